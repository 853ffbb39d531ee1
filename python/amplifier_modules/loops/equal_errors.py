"""Calls that fail again and again: the same tool, the same arguments, the same error."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from .answers.response import RequestedCall
from .recovery.given_up import GivenUp
from .tool_answer import Answer

_TOLD_BEFORE_END = 2
"""How many times more a call may fail once the model has read of it."""
_REASON_CHARS = 300
"""How much of an error a reason quotes."""

_Failure: TypeAlias = tuple[str, str, str]
"""A tool, its arguments and its error."""


class Answered(Protocol):
    """A call that has its answer."""

    @property
    def answer(self) -> Answer:
        """The answer."""
        ...


class EqualErrors:
    """Counts the rounds of a turn in which a call failed in the same way; a success forgets all.

    Equal calls of one round count once: the model has not seen their error yet.
    """

    def __init__(self, most: int | None) -> None:
        """Count nothing yet.

        Args:
            most: After how many equal errors the turn ends; None for no limit.
        """
        self._most = most
        self._counts: dict[_Failure, int] = {}
        self.given_up: GivenUp | None = None
        """Why the turn ends, if it does."""

    def has_no_progress(self, calls: Iterable[Answered]) -> bool:
        """Whether `note` would find nothing: no call has failed, now or before."""
        return not self._counts and not any(call.answer.is_error for call in calls)

    def note(self, calls: Iterable[tuple[RequestedCall, Answer]]) -> list[str | None]:
        """Take the calls of a round into account; return what the model reads of each."""
        rounds = list(calls)
        if any(not answer.is_error for _, answer in rounds):
            self._counts.clear()
        if self._most is None or all(not answer.is_error for _, answer in rounds):
            return [None] * len(rounds)
        failures = [_failure(call, answer) for call, answer in rounds]
        for failure in {each for each in failures if each is not None}:
            self._counts[failure] = self._counts.get(failure, 0) + 1
        return [None if each is None else self._advise(each, self._most) for each in failures]

    def _advise(self, failure: _Failure, most: int) -> str | None:
        count = self._counts[failure]
        name, _, error = failure
        if count >= most:
            error = error.removeprefix("Error: ").removeprefix(f"tool `{name}` failed: ")
            reason = f"the same call of `{name}` failed {count} times in a row: {_clip(error)}"
            self.given_up = self.given_up or GivenUp(name, reason)
            return None
        if count < max(2, most - _TOLD_BEFORE_END):
            return None
        return (
            f"[This call has failed {count} times with the same error. Do not repeat it: change"
            f" the arguments, or go on without it. After {most} times the turn ends.]"
        )


def _clip(text: str) -> str:
    return text if len(text) <= _REASON_CHARS else f"{text[:_REASON_CHARS]}…"


def _failure(call: RequestedCall, answer: Answer) -> _Failure | None:
    """Return what is compared; None for a success, and for arguments that cannot be written."""
    if not answer.is_error:
        return None
    try:
        arguments: Any = json.dumps(call.arguments, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        return None
    return call.name, arguments, answer.text
