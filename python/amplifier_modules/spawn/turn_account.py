"""What a turn of a sub-agent used and how it ended, from the events of its session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, cast

from amplifier_core import events
from amplifier_core.plain_data import shape_of
from amplifier_providers.answers.response_facts import CUT_SHORT, REFUSED
from amplifier_providers.prices.amounts import read_count, read_dollars

from ..spending.budget import is_over_budget
from .task import AWAITING, TASK_END, TOKENS, Answer, Used


class TurnAccount:
    """The account of a turn; any loop that emits the events of the kernel can be read."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.used = Used()
        self._stop_reason: Any = None
        self._ending: Mapping[str, Any] = {}

    @classmethod
    def read_ended(cls, history: Any) -> Answer | None:
        """Return how the last turn of a stored session ended; None if it has not, or there is none."""
        if history is None or history.ending is None:
            return None
        account = cls()
        account._note_ending(history.ending)
        account._stop_reason = history.turn.finish_reason
        return account.answer(history.turn.find_answer(), is_cancelled=False)

    def make_listeners(self, response: str) -> dict[str, Callable[[Any], object]]:
        """Return what the events of a session amount to.

        Args:
            response: The event of a response: `llm:post`, or `provider:response`.
        """
        return {
            response: self._note_response,
            events.LLM_RESPONSE: self._note_broken_answer,
            events.TOOL_POST: self._note_tool_call,
            events.TOOL_ERROR: self._note_tool_call,
            events.ORCHESTRATOR_COMPLETE: self._note_ending,
            TASK_END: lambda data: self.used.add(used_of(data)),
        }

    def answer(self, text: str, *, is_cancelled: bool) -> Answer:
        """Return how the turn ended that gave this text."""
        ending = self._ending
        reason = ending.get("reason")
        reason = reason if isinstance(reason, str) and reason else None
        denied, status = ending.get("denied"), ending.get("status")
        if isinstance(denied, Mapping):
            why = cast("Mapping[str, Any]", denied).get("reason")
            return Answer("denied", "", f"a hook refused it: {why}")
        if status == AWAITING:
            return Answer(AWAITING, text, reason)
        if status == "cancelled" or (is_cancelled and status != "success"):
            return Answer("cancelled", text, reason or "the turn was cancelled")
        if status == "error" or isinstance(ending.get("error"), Mapping):
            return Answer("error", text, reason or "the loop gave up")
        if status == "incomplete":
            return Answer("limit", text, reason or "a limit of its turn was reached")
        word = self._stop_reason
        if isinstance(word, str) and word in REFUSED:
            return Answer("denied", "", f"the model refused (`{word}`)")
        if isinstance(word, str) and word in CUT_SHORT:
            return Answer("truncated", text, f"the answer was cut short (`{word}`)")
        return Answer("completed", text)

    def _note_response(self, data: Mapping[str, Any]) -> None:
        if data.get("status") == "error":
            return
        self._stop_reason = data.get("finish_reason")
        self.used.add(_of_usage(data.get("usage"), model_calls=1))

    def _note_broken_answer(self, data: Mapping[str, Any]) -> None:
        """Count what an answer used that did not come to its end: it is to be paid, too."""
        if data.get("status") in {"error", "cancelled"} and data.get("usage"):
            self.used.add(_of_usage(data["usage"], model_calls=0))

    def _note_tool_call(self, data: Mapping[str, Any]) -> None:
        self.used.tool_calls += not is_over_budget(data)

    def _note_ending(self, data: Mapping[str, Any]) -> None:
        self._ending = shape_of(dict(data), [])


def used_of(data: Mapping[str, Any]) -> Used:
    """Return what the event `task:end` says that a task used."""
    cost = data.get("cost_usd")
    return Used(
        usage=dict(data["usage"]),
        cost=None if cost is None else Decimal(cost),
        model_calls=data["model_calls"],
        tool_calls=data["tool_calls"],
        unpriced_calls=data["unpriced_calls"],
    )


def _of_usage(usage: Any, *, model_calls: int) -> Used:
    counts: Any = shape_of(usage, [])
    if not isinstance(counts, Mapping):
        return Used(model_calls=model_calls, unpriced_calls=1)
    counts = cast("Mapping[str, Any]", counts)
    read = ((name, read_count(counts.get(name))) for name in TOKENS)
    tokens: dict[str, int] = {name: count for name, count in read if count is not None}
    cost = read_dollars(counts.get("cost_usd"))
    return Used(tokens, cost, model_calls, unpriced_calls=int(cost is None))
