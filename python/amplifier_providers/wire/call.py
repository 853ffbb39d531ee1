"""One call of a provider: its requests, several where an answer is continued, and their events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import anyio

from amplifier_core import events, world
from amplifier_core.llm_errors import InvalidRequestError, LLMError
from amplifier_core.message_models import ChatRequest, Usage

from ..prices.admission import Admission, Payer
from ..prices.request_bound import answer_limit
from ..running.call_purpose import is_helper_call
from .block_events import BlockEvents
from .body import WireRequest
from .errors import was_sent
from .events import PROVIDER_FALLBACK
from .extra_headers import extra_headers
from .fields import JsonDict
from .overload import Overload, is_overload
from .repair_report import RepairReport
from .response import WireResponse, build_response
from .settings import HttpSettings
from .usage import priced_usage, reported_counts, sum_usage, usage_payload

if TYPE_CHECKING:
    from amplifier_stream import StreamEvent, StreamResult

GRACE_SECONDS = 2.0
"""How long hooks may take to hear that a call was cancelled."""


class Wire(Payer, Protocol):
    """What a call needs of its provider."""

    name: str
    settings: HttpSettings
    hooks: Any
    new_id: Callable[[], str]
    encoding: Lock
    repairs: RepairReport
    overload: Overload

    async def prepare(self, request: ChatRequest, options: Mapping[str, Any]) -> None:
        """Learn what the encoding of the request needs to know."""
        ...

    def encode(self, request: ChatRequest, options: Mapping[str, Any]) -> WireRequest:
        """Return the request as it is sent."""
        ...

    def raw_block(self, block: JsonDict) -> JsonDict:
        """Return the wire's own form of a decoded block."""
        ...

    def shape_block(self, block: JsonDict) -> JsonDict:
        """Return a decoded block as responses have it."""
        ...

    def link_reasoning(
        self, blocks: list[tuple[JsonDict, JsonDict]]
    ) -> list[tuple[JsonDict, JsonDict]]:
        """Return the blocks of an answer, each with its wire's form, that know what they must."""
        ...

    def build_next_request(
        self, encoded: WireRequest, results: list[StreamResult], last: list[JsonDict]
    ) -> WireRequest | None:
        """Return the request that goes on with an answer that is not whole, None if it is."""
        ...

    def repair_request(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request to send instead of one that failed, None to raise the error."""
        ...

    def answer_metadata(self, encoded: WireRequest, results: list[StreamResult]) -> dict[str, Any]:
        """Return what the provider wants to find again in the metadata of the message."""
        ...

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Tell the hooks, if there are any."""
        ...


_ABOUT_THOUGHTS = re.compile(
    r"invalid `?(signature|data)\b|in the latest assistant message|expected `?(redacted_)?thinking"
    r"|encrypted content|required following item|thought.?signature",
    re.IGNORECASE,
)
"""What services say that refuse the thoughts of a history."""


class Call:
    """One call of a provider: its requests, several where an answer is continued."""

    def __init__(
        self,
        provider: Wire,
        encoded: WireRequest,
        request: ChatRequest,
        options: Mapping[str, Any],
    ) -> None:
        self._provider = provider
        self._request = request
        self._options = options
        self._first = encoded
        self._last = encoded
        self._started = world.monotonic()
        self._results: list[StreamResult] = []
        self._blocks: list[tuple[JsonDict, JsonDict]] = []
        self._details: dict[str, Any] = {}
        self._usages: list[Usage | None] = []
        self._block_events: BlockEvents | None = None
        self.longest_wait = request.timeout
        self.headers: Mapping[str, str] = {}
        """What the program adds to the headers of each request."""
        self.is_shown = False
        """Whether somebody saw a part of the answer that is on its way."""
        self._shown: dict[int, str] = {}
        """The types of the blocks of that answer that hooks heard of, by their index."""
        self._are_emitted = False
        self._admission = Admission(provider, request)
        self.next: WireRequest | None = encoded

    @classmethod
    async def begin(cls, provider: Wire, request: ChatRequest, options: Mapping[str, Any]) -> Call:
        """Encode the request, and tell that it is sent."""
        headers = extra_headers(options, provider.name)
        await provider.prepare(request, options)
        with provider.encoding:
            encoded = provider.encode(request, options)
        call = cls(provider, encoded, request, options)
        call.headers = headers
        wanted, other = encoded.model, provider.overload.current(encoded.model)
        if other is not None:
            call.next = call._first = call._last = encoded = await call._in_place_of(wanted, other)
            await call.fell_back(wanted, other, "still overloaded")
        await provider.repairs.tell(encoded)
        await call.admit(encoded)
        if provider.hooks is not None:
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
            provider.shape_block,
            hides_thoughts=encoded.thinking.is_off,
        )
        return self._block_events

    def has_listeners(self) -> bool:
        """Whether anybody hears of the blocks: hooks do, of those of the conversation."""
        return self._provider.hooks is not None and not is_helper_call()

    async def show(self, pieces: list[StreamEvent], block_events: BlockEvents) -> None:
        """Tell the hooks of what happened to the blocks."""
        hooks = self._provider.hooks
        if not (pieces := block_events.visible_events(pieces)):
            return
        self.is_shown = self._are_emitted = True
        completed = [block_events.complete_event(event) for event in pieces]
        for name, data in completed:
            if name == events.CONTENT_BLOCK_START:
                self._shown[data["block_index"]] = data["block_type"]
        if len(completed) > 1 and (emit_each := getattr(hooks, "emit_each", None)) is not None:
            await emit_each(completed)
            return
        for event in completed:
            await hooks.emit(*event)

    @property
    def may_repeat(self) -> bool:
        """Whether the answer on its way may be asked for again."""
        if not self.is_shown:
            return True
        default = self._provider.settings.retry_shown
        return bool(self._options.get("retry_shown", default))

    async def retract_answer(self) -> None:
        """Tell the hooks that the blocks are void that they heard of; others take their place."""
        while self._shown:
            index, kind = self._shown.popitem()
            data = {"block_type": kind, "block_index": index, "block": {"type": kind}}
            await self._provider.emit(events.CONTENT_BLOCK_END, {**data, "dropped": True})
        self.is_shown = False

    def add(self, encoded: WireRequest, result: StreamResult) -> None:
        """Add an answer, and decide whether another one must follow."""
        self._last = encoded
        self.is_shown = False  # another answer can be asked for again
        self._shown.clear()
        self._results.append(result)
        usage = self._price(encoded, result)
        self._usages.append(usage)
        cost = None if usage is None else usage.cost_usd
        reported = reported_counts(result.usage)
        self._admission.settle(encoded.model, *reported, cost, result.usage)
        blocks = [] if self._block_events is None else self._block_events.blocks(result)
        self._blocks += self._provider.link_reasoning(blocks)
        self.next = self._provider.build_next_request(
            encoded, self._results, [raw for _, raw in blocks]
        )

    async def admit(self, encoded: WireRequest) -> None:
        """Have the next request admitted, each attempt by itself, and its answer limited.

        Raises:
            NoRoomError: Too little is left to pay for it.
        """
        await self._admission.admit(encoded)

    def drop_attempt(self, error: LLMError) -> None:
        """Count a request that failed: as what is held back for it, unless it was refused."""
        self._admission.drop_answer(may_cost=error.status_code is None and was_sent(error))

    @property
    def has_answer(self) -> bool:
        """Whether a part of the answer has come that another request would go on with."""
        return bool(self._results)

    def drop_answer(self, encoded: WireRequest, result: StreamResult) -> None:
        """Count an answer that did not come to its end: what was counted of it was paid for."""
        self._admission.drop_answer(may_cost=True)
        if any(count is not None for count in result.usage.values()):
            self._usages.append(self._price(encoded, result, is_whole=False))

    def _price(
        self, encoded: WireRequest, result: StreamResult, *, is_whole: bool = True
    ) -> Usage | None:
        provider, details = self._provider, result.metadata
        self._details.update(details)
        models = provider.priced_as(encoded.model, result.model)
        return priced_usage(result, provider.pricing, models, details, is_whole=is_whole)

    async def __aenter__(self) -> Self:
        """Go through the call in `async with`."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell that a call is over that was cancelled, or left in the middle."""
        if isinstance(error, anyio.get_cancelled_exc_class() | GeneratorExit):
            with anyio.move_on_after(GRACE_SECONDS, shield=True):
                await self._tell({"status": "cancelled", **self._usage_metadata()})

    async def replace_failed(self, encoded: WireRequest, error: LLMError) -> None:
        """Send another request in the place of one that failed, or tell and raise the error."""
        mended = None
        try:
            mended = await self._repair_request(encoded, error) if self.may_repeat else None
        except LLMError as other:  # what should be sent instead cannot be
            error = other
        if mended is not None:
            await self.retract_answer()
            self.next = mended
            await self._provider.repairs.tell(mended)
            return
        note_hint(error)
        failure = {"type": type(error).__name__, "msg": str(error)}
        await self._tell({"status": "error", "error": failure, **self._usage_metadata()})
        raise error

    def _usage_metadata(self) -> dict[str, Any]:
        """Return the usage of a call without a response, where anything was counted."""
        usage = sum_usage(self._usages)
        return {"usage": usage_payload(usage)} if usage else {}

    async def _repair_request(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request to send in the place of one that failed, if there is any."""
        mended = self._provider.repair_request(encoded, error)
        if mended is not None:
            return mended
        other = self._provider.overload.substitute(encoded.model)
        if other is not None and is_overload(error):
            return await self._in_place_of(encoded.model, other)
        return self._without_thoughts(encoded, error)

    def _without_thoughts(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request without the thoughts of its history, if those were refused."""
        is_refused = type(error) is InvalidRequestError and _ABOUT_THOUGHTS.search(str(error))
        if not is_refused or self._results or not encoded.history.refuse_thoughts():
            return None
        with self._provider.encoding:
            return self._provider.encode(self._request, self._options)

    async def response(self) -> WireResponse:
        """Tell that the answer is there, and return it."""
        provider = self._provider
        response = build_response(
            self._results,
            self._blocks,
            provider=provider.name,
            requested_model=self._last.model,
            are_emitted=self._are_emitted,
            usage=sum_usage(self._usages),
            details=self._details,
            degradations=self._last.degradations,
            hides_thoughts=self._last.thinking.is_off,
            metadata=provider.answer_metadata(self._last, self._results),
        )
        if provider.hooks is None:
            return response
        usage = usage_payload(response.usage) if response.usage else {}
        raw = {"raw": [raw for _, raw in self._blocks]} if provider.settings.raw else {}
        await self._tell(
            {
                "model": self._results[-1].model or self._last.model,
                "status": "ok",
                "usage": usage,
                **raw,
            }
        )
        return response

    async def fell_back(self, model: str, other: str, reason: str) -> None:
        """Tell that another model is asked in the place of one that is overloaded."""
        data = {"provider": self._provider.name, "model": model, "fallback_model": other}
        await self._provider.emit(PROVIDER_FALLBACK, {**data, "reason": reason})

    async def _in_place_of(self, model: str, other: str) -> WireRequest:
        """Return the request for another model, as the one that it names is overloaded."""
        options = {**self._options, "model": other}
        await self._provider.prepare(self._request, options)
        with self._provider.encoding:
            encoded = self._provider.encode(self._request, options)
        encoded.degrade(f"`{model}`", f"`{other}`", "the model is overloaded")
        return encoded

    async def _tell(self, payload: dict[str, Any]) -> None:
        for text in self._provider.pricing.take_notices():
            source = f"provider-{self._provider.name}"
            data = {"message": text, "level": "warning", "source": source}
            await self._provider.emit(events.USER_NOTIFICATION, data)
        about = {"provider": self._provider.name, "model": self._first.model}
        duration = round((world.monotonic() - self._started) * 1000)
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
    thinking = body.get("thinking", body.get("reasoning"))
    payload: dict[str, Any] = {
        "provider": provider.name,
        "model": encoded.model,
        "message_count": encoded.message_count,
        "tool_count": len(body.get("tools", ())),
        "max_tokens": answer_limit(body),
        "thinking": {"think": body["think"]} if "think" in body else thinking,
        "stream": bool(body.get("stream")),
        "timeout": timeout,
    }
    if provider.settings.raw:
        payload["raw"] = encoded.body
    return payload
