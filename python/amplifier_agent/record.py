"""What a turn did, from the events of the kernel: any loop that emits them can be read."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from io import StringIO
from typing import Any, cast

from amplifier_core import events

from .result import TokenUsage, TurnStatus

FIRST = -1_000_000
"""The priority of an observer: it sees an event before another hook denies it."""

CUT_SHORT = frozenset({"max_tokens", "length", "model_context_window_exceeded", "pause_turn"})
REFUSED = frozenset({"refusal", "content_filter", "safety"})
"""Words of providers for why an answer ended."""

_MOST_CHARS = 4 * 1024**2
"""Of an answer that is cut off, this much is kept: no model writes more, but a server may."""

_RESPONSES = frozenset({events.PROVIDER_RESPONSE, events.LLM_POST})

_TOOL_RESULTS = frozenset({events.TOOL_POST, events.TOOL_ERROR})

_DENIED_STEP = {events.PROMPT_SUBMIT: "the prompt", events.PROVIDER_REQUEST: "a model call"}


_NO_USAGE = TokenUsage()


class TurnRecord:
    """The counts of a turn, its sub-agents included, and how it ended."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.usage = _NO_USAGE
        self.cost: Decimal | None = None
        self.model_calls = 0
        self.tool_calls = 0
        self.stop_reason: str | None = None
        self._has_unpriced_calls = False
        self._ending: Mapping[str, Any] | None = None
        self._said: StringIO | None = None

    def note(self, event: str, data: Mapping[str, Any]) -> None:
        """Take an event into account."""
        if event in _RESPONSES and data.get("status") != "error":
            self._said = None
            self.model_calls += 1
            stop_reason = data.get("finish_reason")
            self.stop_reason = stop_reason if isinstance(stop_reason, str) else None
            self._add_usage(data.get("usage"))
        elif event in _TOOL_RESULTS:
            self.tool_calls += 1
        elif event == events.ORCHESTRATOR_COMPLETE:
            self._ending = dict(data)

    def note_delta(self, data: Mapping[str, Any]) -> None:
        """Keep what the model says, for the case that it is cut off; there are many of these."""
        if data.get("block_type") == "text" and isinstance(text := data.get("delta"), str):
            said = self._said = self._said or StringIO()
            if said.tell() < _MOST_CHARS:
                said.write(text)

    @property
    def unfinished(self) -> str:
        """What the model has said of an answer that was not finished."""
        return "" if self._said is None else self._said.getvalue()

    def add(self, child: TurnRecord) -> None:
        """Add the counts of a sub-agent."""
        self.usage += child.usage
        self.model_calls += child.model_calls
        self.tool_calls += child.tool_calls
        self._has_unpriced_calls |= child._has_unpriced_calls
        self._add_cost(child.cost)

    def priced(self) -> Decimal | None:
        """Return the cost; None if the price of a call is not known."""
        return None if self._has_unpriced_calls else self.cost

    def ending(self, *, is_cancelled: bool) -> tuple[TurnStatus, str | None]:
        """Return how the turn ended, and why if it is not `completed`."""
        told = self._ending or {}
        reason = told.get("reason")
        reason = reason if isinstance(reason, str) and reason else None
        denied = told.get("denied")
        if denied is not None and isinstance(denied, Mapping):
            found = cast("Mapping[str, Any]", denied)
            step = _DENIED_STEP.get(str(found.get("event")), "the turn")
            return "denied", f"{step} was refused: {found.get('reason')}"
        status = told.get("status")
        if status == "cancelled" or (is_cancelled and status != "success"):
            return "cancelled", reason or "the turn was cancelled"
        if status == "error" or isinstance(told.get("error"), Mapping):
            return "error", reason or "the loop gave up"
        if status == "incomplete":
            return "limit", reason or f"the limit of {told.get('turn_count')} model calls"
        return self._answered(reason)

    def _answered(self, reason: str | None) -> tuple[TurnStatus, str | None]:
        word = self.stop_reason
        if word in REFUSED:
            return "denied", reason or f"the model refused (`{word}`)"
        if word in CUT_SHORT:
            return "truncated", reason or f"the answer was cut short (`{word}`)"
        return "completed", None

    def _add_usage(self, usage: Any) -> None:
        # `dict` first, as it is one nearly always, and to ask for a `Mapping` takes longer.
        if not isinstance(usage, (dict, Mapping)):
            self._has_unpriced_calls = True
            return
        counts = cast("Mapping[str, Any]", usage)
        read, written = _count(counts, "cache_read_tokens"), _count(counts, "cache_write_tokens")
        reasoning = _count(counts, "reasoning_tokens")
        used = TokenUsage(
            # The kernel's counts include what is counted by itself here.
            input=max(_count(counts, "input_tokens") - read - written, 0),
            cache_read=read,
            cache_write=written,
            output=max(_count(counts, "output_tokens") - reasoning, 0),
            reasoning=reasoning,
        )
        self.usage = used if self.usage is _NO_USAGE else self.usage + used
        try:
            cost = counts.get("cost_usd")
            self._add_cost(None if cost is None else Decimal(str(cost)))
            self._has_unpriced_calls |= cost is None
        except InvalidOperation:
            self._has_unpriced_calls = True

    def _add_cost(self, cost: Decimal | None) -> None:
        if cost is not None:
            self.cost = (self.cost or Decimal(0)) + cost


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
