"""Why a tool call has no result, as text for the model, and calls that fail again and again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.models import ToolResult

from ..running.failure import format_error
from ..spending.budget import OverBudgetError
from .answers.response import RequestedCall
from .recoverable_errors import ErrorKind, GivenUp, RecoverableError
from .tool_answer import Answer

NO_NAME = "the call has no tool name"
"""How the parsers of `amplifier_stream` begin to report a call without a name."""


PAST_LIMIT = "an answer can have at most"
"""How `amplifier_stream` begins to report a call past the limit of an answer."""


class TooManyCallsError(RuntimeError):
    """The call is past the limit of calls of one answer."""

    def __init__(self, name: str, limit: str) -> None:
        """Name the tool and the limit."""
        super().__init__(
            f"`{name}` was not run: {limit}; call it again in your next answer if you still need it"
        )


class OutOfTimeError(OverBudgetError):
    """The time of the turn was over before the tool could begin."""

    def __init__(self, name: str, reason: str) -> None:
        """Name the tool and the limit."""
        super().__init__(f"`{name}` was not run: {reason}")


class UnknownToolError(LookupError):
    """The model asked for a tool that is not mounted."""

    def __init__(self, name: str, known: list[str]) -> None:
        """Name the tools that are mounted."""
        import difflib  # late: most turns have no such error

        listed = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
        what = f"unknown tool `{name}`" if name else "the call has no tool name"
        message = f"{what} (mounted: {listed})"
        if close := difflib.get_close_matches(name, known, n=1):
            message += f"; did you mean `{close[0]}`?"
        super().__init__(message)


class DeniedByHookError(PermissionError):
    """A hook, or the person it asked, refused the call."""


class ToolTimeoutError(TimeoutError):
    """A tool exceeded its time limit."""

    def __init__(self, name: str, seconds: float, *, is_read_only: bool = False) -> None:
        """Name the tool and its limit."""
        effects = "it has changed nothing" if is_read_only else "its effects are unknown"
        super().__init__(
            f"tool `{name}` was ended after {seconds:g} s, the time limit of tools; {effects}"
        )


_CALL_ERRORS = (
    UnknownToolError,
    DeniedByHookError,
    ToolTimeoutError,
    InvalidToolCallError,
    TooManyCallsError,
    OutOfTimeError,
)


def is_failure_of_tool(error: Exception) -> bool:
    """Whether the tool itself, or a hook, raised it."""
    return not isinstance(error, _CALL_ERRORS)


def words_for_model(name: str, error: Exception) -> str:
    """Return why a call of the tool `name` has no result."""
    if isinstance(error, DeniedByHookError):
        return f"Denied by hook: {error}"
    if isinstance(error, _CALL_ERRORS):
        text = f"Error: {error}"
    else:
        text = f"Error: tool `{name}` failed: {format_error(error)}"
    return ToolResult(output=text).get_serialized_output()


def error_of_call(
    index: int, call: RequestedCall, answer: Answer, failure: Exception | None
) -> RecoverableError:
    """Return the error of a call.

    Args:
        index: The number of the call in its answer, from 0.
        call: The call.
        answer: What the model reads of it; an error.
        failure: What was raised; None for a tool that returned a failure.
    """
    text = answer.text.removeprefix("Error: ")
    kind = ErrorKind.TOOL_FAILED
    if isinstance(failure, DeniedByHookError | TooManyCallsError):
        kind = ErrorKind.CALL_DENIED
    elif isinstance(failure, UnknownToolError):
        kind = ErrorKind.UNKNOWN_TOOL if call.name else ErrorKind.NO_TOOL_NAME
    elif call.arguments is None:
        kind, text = ErrorKind.BAD_PAYLOAD, f"the call cannot be read: {call.problem}"
    elif isinstance(failure, InvalidToolCallError):
        kind = ErrorKind.BAD_ARGUMENTS
    return RecoverableError(kind, text, call.name, call.id, index)


_ROUNDS_AFTER_ADVICE = 2
"""How many more times a call may fail after the model was advised to change it."""
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
        failures = [_describe_failure(call, answer) for call, answer in rounds]
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
        if count < max(2, most - _ROUNDS_AFTER_ADVICE):
            return None
        return (
            f"[This call has failed {count} times with the same error. Do not repeat it: change"
            f" the arguments, or go on without it. After {most} times the turn ends.]"
        )


def _clip(text: str) -> str:
    return text if len(text) <= _REASON_CHARS else f"{text[:_REASON_CHARS]}…"


def _describe_failure(call: RequestedCall, answer: Answer) -> _Failure | None:
    """Return what is compared; None for a success, and for arguments that cannot be written."""
    if not answer.is_error:
        return None
    try:
        # Arguments that cannot be used are none in the conversation, too.
        arguments: Any = json.dumps(call.arguments or {}, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        return None
    return call.name, arguments, answer.text
