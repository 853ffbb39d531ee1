"""Why a tool call has no result, as text for the model."""

from __future__ import annotations

from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.models import ToolResult

from ..running.failure import in_words
from ..spending.budget import OverBudgetError
from .answers.response import RequestedCall
from .recovery.recoverable_error import ErrorKind, RecoverableError
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


_TOLD = (
    UnknownToolError,
    DeniedByHookError,
    ToolTimeoutError,
    InvalidToolCallError,
    TooManyCallsError,
    OutOfTimeError,
)


def is_failure_of_tool(error: Exception) -> bool:
    """Whether the tool itself, or a hook, raised it."""
    return not isinstance(error, _TOLD)


def words_for_model(name: str, error: Exception) -> str:
    """Return why a call of the tool `name` has no result."""
    if isinstance(error, DeniedByHookError):
        return f"Denied by hook: {error}"
    if isinstance(error, _TOLD):
        text = f"Error: {error}"
    else:
        text = f"Error: tool `{name}` failed: {in_words(error)}"
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
