"""The events of one call: its request, the blocks of its answer, and how it ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from amplifier_core import events, world
from amplifier_core.message_models import Usage

from ..prices.pricing import Pricing
from ..prices.request_bound import answer_limit
from ..prompt.watch import PrefixChange
from ..running.call_purpose import is_helper_call
from ..running.listeners import emission_check
from .block_events import BlockEvents
from .body import WireRequest
from .errors import ChallengeError
from .events import (
    LLM_PREFIX_CHANGED,
    PROVIDER_CLOUDFLARE_CHALLENGE,
    PROVIDER_FALLBACK,
    Emitter,
)
from .fields import JsonDict
from .settings import HttpSettings
from .usage import usage_payload

if TYPE_CHECKING:
    from amplifier_stream import StreamEvent


class CallEvents:
    """Emits the events of one call."""

    def __init__(
        self,
        provider: str,
        settings: HttpSettings,
        emitter: Emitter,
        pricing: Pricing,
        *,
        repeats_shown: bool,
    ) -> None:
        """Begin a call; nothing is emitted.

        Args:
            provider: The provider's name.
            settings: Whether raw requests and answers are part of events.
            emitter: Emits the events.
            pricing: Has the notices about prices, each to be emitted once.
            repeats_shown: Whether an answer may be asked for again of which a part was shown.
        """
        self._provider = provider
        self._settings = settings
        self._emitter = emitter
        self._pricing = pricing
        self._repeats_shown = repeats_shown
        self._started = 0.0
        self._model = ""
        self.is_shown = False
        """Whether somebody saw a part of the answer that is on its way."""
        self.are_blocks_emitted = False
        """Whether hooks got the events of any block of the call."""
        self._must_emit: Callable[[str, Any], bool] | None = None
        self._shown: dict[int, str] = {}
        """The types of the blocks of that answer whose events hooks got, by their index."""

    @property
    def has_hooks(self) -> bool:
        """Whether there are hooks to get its events."""
        return self._emitter.hooks is not None

    @property
    def are_blocks_heard(self) -> bool:
        """Whether hooks get the events of the blocks: of a call of the conversation they do."""
        return self._emitter.hooks is not None and not is_helper_call()

    def may_repeat(self) -> bool:
        """Whether the answer on its way may be asked for again."""
        return self._repeats_shown or not self.is_shown

    async def emit_request(self, encoded: WireRequest, longest_wait: float | None) -> None:
        """Emit that the first request is sent."""
        self._started = world.monotonic()
        self._model = encoded.model
        if self.has_hooks:
            seconds = longest_wait or self._settings.timeout
            payload = self._request_payload(encoded, seconds)
            await self._emitter.emit(events.LLM_REQUEST, payload)

    def emit_blocks(
        self, pieces: list[StreamEvent], block_events: BlockEvents
    ) -> Awaitable[None] | None:
        """Return what emits what happened to the blocks of the answer; None for what nobody sees."""
        if not (pieces := block_events.visible_events(pieces)):
            return None
        self.is_shown = self.are_blocks_emitted = True
        completed: list[tuple[str, JsonDict]] = []
        for event in pieces:
            for name, data in block_events.list_events(event):
                if name == events.CONTENT_BLOCK_START:
                    self._shown[data["block_index"]] = data["block_type"]
                completed.append((name, data))
        must_emit = self._must_emit
        if must_emit is None:
            must_emit = self._must_emit = emission_check(self._emitter.hooks)
        for place, named in enumerate(completed):
            if must_emit(*named):
                return _emit_each(self._emitter.hooks, completed[place:])
        return None

    async def retract_blocks(self) -> None:
        """Retract the blocks whose events hooks got; others take their place."""
        while self._shown:
            index, kind = self._shown.popitem()
            data = {"block_type": kind, "block_index": index, "block": {"type": kind}}
            await self._emitter.emit(events.CONTENT_BLOCK_END, {**data, "dropped": True})
        self.is_shown = False

    def end_answer(self) -> None:
        """Forget the blocks of an answer that is whole: another one can be asked for again."""
        self.is_shown = False
        self._shown.clear()

    async def emit_fallback(self, model: str, other: str, reason: str) -> None:
        """Emit that another model is asked in the place of one that is overloaded."""
        data = {"provider": self._provider, "model": model, "fallback_model": other}
        await self._emitter.emit(PROVIDER_FALLBACK, {**data, "reason": reason})

    async def emit_prefix_change(self, model: str, change: PrefixChange | None) -> None:
        """Emit that a request does not begin with the one before; None where it does."""
        if change is not None:
            about = {"provider": self._provider, "model": model}
            await self._emitter.emit(LLM_PREFIX_CHANGED, {**about, **change.describe()})

    async def emit_challenge(self, model: str, error: ChallengeError) -> None:
        """Emit that a page answered that wants to see a person."""
        data = {"provider": self._provider, "model": model, "status_code": error.status_code}
        await self._emitter.emit(PROVIDER_CLOUDFLARE_CHALLENGE, data)

    async def emit_notices(self, encoded: WireRequest) -> None:
        """Emit the events that a request has for when it is sent, once."""
        while encoded.notices:
            await self._emitter.emit(*encoded.notices.pop(0))

    async def emit_response(
        self, model: str, usage: Usage | None, raw: list[Any], about_prompt: JsonDict
    ) -> None:
        """Emit that the whole answer is there."""
        known: dict[str, Any] = {
            "model": model, "status": "ok", "usage": usage_payload(usage) if usage else {},
            **about_prompt,
        }  # fmt: skip
        await self.emit_end({**known, "raw": raw} if self._settings.raw else known)

    async def emit_end(self, payload: dict[str, Any]) -> None:
        """Emit that the call is over, and how."""
        for text in self._pricing.take_notices():
            source = f"provider-{self._provider}"
            data = {"message": text, "level": "warning", "source": source}
            await self._emitter.emit(events.USER_NOTIFICATION, data)
        about = {"provider": self._provider, "model": self._model}
        duration = round((world.monotonic() - self._started) * 1000)
        await self._emitter.emit(events.LLM_RESPONSE, {**about, "duration_ms": duration, **payload})

    def _request_payload(self, encoded: WireRequest, seconds: float) -> dict[str, Any]:
        """Return a summary: copying the history for each handler would be slow."""
        body = encoded.fields
        thinking = body.get("thinking", body.get("reasoning"))
        payload: dict[str, Any] = {
            "provider": self._provider,
            "model": encoded.model,
            "message_count": encoded.message_count,
            "tool_count": len(body.get("tools", ())),
            "max_tokens": answer_limit(body),
            "thinking": {"think": body["think"]} if "think" in body else thinking,
            "stream": bool(body.get("stream")),
            "timeout": seconds,
        }
        if self._settings.raw:
            payload["raw"] = encoded.body
        return payload


def _emit_each(hooks: Any, completed: list[tuple[str, JsonDict]]) -> Awaitable[None]:
    emit_each = getattr(hooks, "emit_each", None)
    return _emit_one_by_one(hooks, completed) if emit_each is None else emit_each(completed)


async def _emit_one_by_one(hooks: Any, completed: list[tuple[str, JsonDict]]) -> None:
    for event in completed:
        await hooks.emit(*event)
