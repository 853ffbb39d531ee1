"""What a turn did, from the events of the kernel: any loop that emits them can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, cast

from amplifier_core import events
from amplifier_core.plain_data import PLAIN, shape_of
from amplifier_core.unfinished_text import UnfinishedText
from amplifier_modules.loops.turn_report import AWAITING_APPROVAL
from amplifier_modules.spawn.task import TASK_END, Used
from amplifier_modules.spawn.turn_account import used_of
from amplifier_modules.spending.budget import is_over_budget
from amplifier_providers.answers.response_facts import CUT_SHORT, REFUSED
from amplifier_providers.prices.amounts import TokenCount, read_count, read_dollars
from amplifier_providers.wire.events import LLM_PREFIX_CHANGED

from .prompt_cache import NO_USE, ONE_CHANGE, use_of
from .result import GoalOutcome, TokenUsage, TurnStatus, goal_outcome

_DENIED_STEP = {events.PROMPT_SUBMIT: "the prompt", events.PROVIDER_REQUEST: "a model call"}

_EXCEPTIONAL = frozenset({"denied", "error", "reason"})
"""What `orchestrator:complete` has beside the facts of every turn."""

_SUCCESS = MappingProxyType({"status": "success"})
_NO_USAGE = TokenUsage()


class TurnRecord:
    """The counts of a turn, its sub-agents included, and how it ended."""

    __slots__ = (
        "_ending",
        "_unfinished",
        "_unpriced_calls",
        "cost",
        "goal",
        "model_calls",
        "prompt_cache",
        "stop_reason",
        "tool_calls",
        "usage",
    )

    def __init__(self) -> None:
        """Begin with nothing."""
        self.usage = _NO_USAGE
        self.prompt_cache = NO_USE
        self.cost: Decimal | None = None
        self.model_calls = 0
        self.tool_calls = 0
        self.stop_reason: str | None = None
        self.goal: GoalOutcome | None = None
        self._unpriced_calls = 0
        self._ending: Mapping[str, Any] | None = None
        self._unfinished = UnfinishedText()

    def make_listeners(self, request: str, response: str) -> dict[str, Callable[[Any], object]]:
        """Return what the events of a session amount to.

        Args:
            request: The event of a request: `llm:pre`, or `provider:request`.
            response: The event of its response: `llm:post`, or `provider:response`.
        """
        unfinished = self._unfinished
        return {
            request: unfinished.clear,
            events.CONTENT_BLOCK_DELTA: unfinished.add,
            events.CONTENT_BLOCK_END: unfinished.end,
            response: self._note_response,
            events.LLM_RESPONSE: self._note_call,
            LLM_PREFIX_CHANGED: self._note_change,
            events.TOOL_POST: self._note_tool_call,
            events.TOOL_ERROR: self._note_tool_call,
            events.ORCHESTRATOR_COMPLETE: self._note_ending,
            TASK_END: self._note_task,
        }

    def _note_response(self, data: Mapping[str, Any]) -> None:
        if _make_plain(data.get("status")) in {"error", "cancelled"}:
            return
        self._unfinished.clear()
        self.model_calls += 1
        if "purpose" not in data:  # the answer of a judge is none of the turn
            stop_reason = _make_plain(data.get("finish_reason"))
            self.stop_reason = stop_reason if isinstance(stop_reason, str) else None
        usage = data.get("usage")
        # Of a dict, nothing but numbers is used.
        self._add_usage(usage if type(usage) is dict else _make_plain(usage))

    def _note_change(self, data: Mapping[str, Any]) -> None:
        del data
        self.prompt_cache += ONE_CHANGE

    def _note_call(self, data: Mapping[str, Any]) -> None:
        """Count what an answer used that did not come to its end: it is to be paid, too."""
        if (use := use_of(data)) is not None:
            self.prompt_cache += use
        usage = data.get("usage")
        if data.get("status") in {"error", "cancelled"} and usage:
            self._add_usage(_make_plain(usage))

    def _note_tool_call(self, data: Mapping[str, Any]) -> None:
        self.tool_calls += not is_over_budget(data)

    def _note_ending(self, data: Mapping[str, Any]) -> None:
        # Most turns end like this, and sessions keep what their last turn did.
        is_usual = data.get("status") == "success" and not data.keys() & _EXCEPTIONAL
        self._ending = _SUCCESS if is_usual else {**data}
        if "goal_final" in data:
            self.goal = goal_outcome(_make_plain(data["goal_final"]))

    @property
    def unfinished(self) -> str:
        """The text of an answer that was not finished."""
        return str(self._unfinished)

    def count_usage(self) -> Used:
        """Return the counts in the form that those of a sub-agent have."""
        usage = self.usage
        tokens = {
            "input_tokens": usage.input + usage.cache_read + usage.cache_write,
            "output_tokens": usage.output + usage.reasoning,
            "reasoning_tokens": usage.reasoning,
            "cache_read_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        }
        return Used(tokens, self.cost, self.model_calls, self.tool_calls, self._unpriced_calls)

    def _note_task(self, data: Mapping[str, Any]) -> None:
        """Add what a sub-agent used."""
        used = used_of(data)
        self._add_tokens(used.usage)
        self.model_calls += used.model_calls
        self.tool_calls += used.tool_calls
        self._unpriced_calls += used.unpriced_calls
        self._add_cost(used.cost)

    def total_cost(self) -> Decimal | None:
        """Return the cost; None if the price of a call is not known."""
        return None if self._unpriced_calls else self.cost

    def find_ending(self, *, is_cancelled: bool) -> tuple[TurnStatus, str | None]:
        """Return how the turn ended, and why if it is not `completed`."""
        ending = self._ending or {}
        if ending.get("status") == "success" and not ending.keys() & _EXCEPTIONAL:
            return self._status_of_answer(None)
        reason = _make_plain(ending.get("reason"))
        reason = reason if isinstance(reason, str) and reason else None
        denied, error = _make_plain(ending.get("denied")), _make_plain(ending.get("error"))
        if isinstance(denied, dict):
            found = cast("dict[str, Any]", denied)
            step = _DENIED_STEP.get(str(found.get("event")), "the turn")
            return "denied", f"{step} was refused: {found.get('reason')}"
        status = _make_plain(ending.get("status"))
        if status == AWAITING_APPROVAL:
            return "awaiting_approval", reason
        if status == "cancelled" or (is_cancelled and status != "success"):
            return "cancelled", reason or "the turn was cancelled"
        if status == "error" or isinstance(error, dict):
            return "error", reason or "the loop gave up"
        if status == "incomplete":
            return "limit", reason or f"the limit of {ending.get('turn_count')} model calls"
        return self._status_of_answer(reason)

    def _status_of_answer(self, reason: str | None) -> tuple[TurnStatus, str | None]:
        word = self.stop_reason
        if word in REFUSED:
            return "denied", reason or f"the model refused (`{word}`)"
        if word in CUT_SHORT:
            return "truncated", reason or f"the answer was cut short (`{word}`)"
        return "completed", None

    def _add_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            self._unpriced_calls += 1
            return
        counts = cast("dict[str, Any]", usage)
        self._add_tokens(counts)
        cost = read_dollars(counts.get("cost_usd"))
        self._unpriced_calls += cost is None
        self._add_cost(cost)

    def _add_tokens(self, counts: Mapping[str, Any]) -> None:
        read, written = _count(counts, "cache_read_tokens"), _count(counts, "cache_write_tokens")
        reasoning = _count(counts, "reasoning_tokens")
        # The kernel's counts include what is counted by itself here.
        used = TokenUsage(
            input=max(_count(counts, "input_tokens") - read - written, 0),
            cache_read=read,
            cache_write=written,
            output=max(_count(counts, "output_tokens") - reasoning, 0),
            reasoning=reasoning,
        )
        self.usage = used if self.usage is _NO_USAGE else self.usage + used

    def _add_cost(self, cost: Decimal | None) -> None:
        if cost is not None:
            self.cost = (self.cost or Decimal(0)) + cost


def _make_plain(value: Any) -> Any:
    """Return a value in JSON form, as listeners get what the caller of `emit` had."""
    return value if type(value) in PLAIN else shape_of(value, [])


def _count(counts: Mapping[str, Any], name: str) -> TokenCount:
    return read_count(counts.get(name)) or TokenCount(0)
