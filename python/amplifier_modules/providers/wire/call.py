"""One call of a provider: its requests, several where an answer is continued, and their events."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from amplifier_core import events
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest

from .block_events import BlockEvents
from .body import WireRequest
from .fields import JsonDict
from .repair_report import RepairReport
from .response import WireResponse, build_response
from .settings import HttpSettings
from .usage import usage_payload

if TYPE_CHECKING:
    from amplifier_stream import StreamEvent, StreamResult


class Wire(Protocol):
    """What a call needs of its provider."""

    name: str
    settings: HttpSettings
    hooks: Any
    new_id: Callable[[], str]
    encoding: Lock
    repairs: RepairReport

    def encode(self, request: ChatRequest, options: Mapping[str, Any]) -> WireRequest:
        """Return the request as it is sent."""
        ...

    def raw_block(self, block: JsonDict) -> JsonDict:
        """Return the wire's own form of a decoded block."""
        ...

    def shaped(self, block: JsonDict) -> JsonDict:
        """Return a decoded block as responses have it."""
        ...

    def linked(self, blocks: list[tuple[JsonDict, JsonDict]]) -> list[tuple[JsonDict, JsonDict]]:
        """Return the blocks of an answer, each with its wire's form, that know what they must."""
        ...

    def continued(self, encoded: WireRequest, results: list[StreamResult]) -> WireRequest | None:
        """Return the request that goes on with an answer that is not whole, None if it is."""
        ...

    def mended(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request to send instead of one that failed, None to raise the error."""
        ...

    def answer_metadata(self, encoded: WireRequest, results: list[StreamResult]) -> dict[str, Any]:
        """Return what the provider wants to find again in the metadata of the message."""
        ...

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Tell the hooks, if there are any."""
        ...


class Call:
    """One call of a provider: its requests, several where an answer is continued."""

    def __init__(self, provider: Wire, encoded: WireRequest, request: ChatRequest) -> None:
        self._provider = provider
        self._first = encoded
        self._last = encoded
        self._started = time.monotonic()
        self._results: list[StreamResult] = []
        self._blocks: list[tuple[JsonDict, JsonDict]] = []
        self._block_events: BlockEvents | None = None
        self.longest_wait = request.timeout
        self.is_shown = False
        """Whether somebody saw a part of the answer that is on its way."""
        self._are_emitted = False
        self.next: WireRequest | None = encoded

    @classmethod
    async def begin(cls, provider: Wire, request: ChatRequest, options: Mapping[str, Any]) -> Call:
        """Encode the request, and tell that it is sent."""
        with provider.encoding:
            encoded = provider.encode(request, options)
        call = cls(provider, encoded, request)
        await provider.repairs.tell(encoded)
        timeout = request.timeout or provider.settings.timeout
        await provider.emit(events.LLM_REQUEST, _request_payload(provider, encoded, timeout))
        return call

    def block_events(self, encoded: WireRequest) -> BlockEvents:
        """Begin the events of one answer."""
        provider = self._provider
        self._block_events = BlockEvents(
            provider.new_id,
            provider.raw_block,
            encoded.tool_names,
            len(self._blocks),
            provider.shaped,
        )
        return self._block_events

    async def show(self, pieces: list[StreamEvent], block_events: BlockEvents) -> None:
        """Tell the hooks, if there are any, of what happened to the blocks."""
        hooks = self._provider.hooks
        if hooks is None or not pieces:
            return
        self.is_shown = self._are_emitted = True
        emit, completed = hooks.emit, block_events.completed
        for event in pieces:
            await emit(*completed(event))

    def add(self, encoded: WireRequest, result: StreamResult) -> None:
        """Add an answer, and decide whether another one must follow."""
        self._last = encoded
        self.is_shown = False  # another answer can be asked for again
        self._results.append(result)
        if self._block_events is not None:
            self._blocks += self._provider.linked(self._block_events.blocks(result))
        self.next = self._provider.continued(encoded, self._results)

    async def failed(self, encoded: WireRequest, error: LLMError) -> None:
        """Send another request in the place of one that failed, or tell and raise the error."""
        mended = None if self.is_shown else self._provider.mended(encoded, error)
        if mended is not None:
            self.next = mended
            return
        note_hint(error)
        await self._tell(
            {"status": "error", "error": {"type": type(error).__name__, "msg": str(error)}}
        )
        raise error

    async def response(self) -> WireResponse:
        """Tell that the answer is there, and return it."""
        provider = self._provider
        response = build_response(
            self._results,
            self._blocks,
            provider=provider.name,
            requested_model=self._first.model,
            are_emitted=self._are_emitted,
            degradations=self._last.degradations,
            metadata=provider.answer_metadata(self._last, self._results),
        )
        usage = usage_payload(response.usage) if response.usage else {}
        raw = {"raw": [raw for _, raw in self._blocks]} if provider.settings.raw else {}
        await self._tell(
            {
                "model": self._results[-1].model or self._first.model,
                "status": "ok",
                "usage": usage,
                **raw,
            }
        )
        return response

    async def _tell(self, payload: dict[str, Any]) -> None:
        about = {"provider": self._provider.name, "model": self._first.model}
        duration = round((time.monotonic() - self._started) * 1000)
        await self._provider.emit(
            events.LLM_RESPONSE, {**about, "duration_ms": duration, **payload}
        )


def note_hint(error: LLMError) -> None:
    """Write the hint into the notes of an error: a traceback shows no fields."""
    hint = f"hint: {error.hint}"
    if error.hint and error.hint not in str(error) and hint not in getattr(error, "__notes__", ()):
        error.add_note(hint)


def _request_payload(provider: Wire, encoded: WireRequest, timeout: float) -> dict[str, Any]:
    """Return a summary: copying the history for each handler would be slow."""
    body = encoded.fields
    limits = (body.get(key) for key in ("max_tokens", "max_output_tokens", "max_completion_tokens"))
    payload: dict[str, Any] = {
        "provider": provider.name,
        "model": encoded.model,
        "message_count": encoded.message_count,
        "tool_count": len(body.get("tools", ())),
        "max_tokens": next((limit for limit in limits if limit is not None), None),
        "thinking": body.get("thinking", body.get("reasoning")),
        "stream": bool(body.get("stream")),
        "timeout": timeout,
    }
    if provider.settings.raw:
        payload["raw"] = encoded.body
    return payload
