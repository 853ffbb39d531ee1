"""Errors that a model can correct in its next answer: their kinds, counts and messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Any, Generic, TypeVar

from ..tool.endings import can_end_turn


class ErrorKind(Enum):
    """What is wrong with an answer or one of its calls."""

    NO_TOOL_CALL = "no_tool_call"
    """An answer without a call where one is required."""
    QUOTED_CALL = "quoted_call"
    """An answer that ends with a call in code, a comment or a quotation, where it does not run."""
    BAD_PAYLOAD = "bad_payload"
    """A call that cannot be read."""
    NO_TOOL_NAME = "no_tool_name"
    UNKNOWN_TOOL = "unknown_tool"
    BAD_ARGUMENTS = "bad_arguments"
    """Arguments that do not fit the schema of the tool."""
    TOOL_FAILED = "tool_failed"
    CALL_DENIED = "call_denied"


Identity = tuple[ErrorKind, str, str]
"""What identical errors have in common: kind, tool, and text."""


@dataclass(frozen=True)
class RecoverableError:
    """An error that the model reads of and may correct."""

    kind: ErrorKind
    text: str
    """What was found."""
    tool_name: str = ""
    call_id: str | None = None
    index: int | None = None
    """The number of the call in its answer, from 0; None for the answer itself."""

    @property
    def identity(self) -> Identity:
        """What makes it identical to another.

        Of a call that cannot be read, the text does not count: it has positions and quotations,
        which differ even if the model repeats its mistake.
        """
        is_unreadable = self.kind in {ErrorKind.BAD_PAYLOAD, ErrorKind.NO_TOOL_NAME}
        return self.kind, self.tool_name, "" if is_unreadable else self.text


ErrorT = TypeVar("ErrorT", bound=Hashable)


class ErrorRing(Generic[ErrorT]):
    """The errors of the latest answers in which nothing succeeded.

    An answer is one entry, whatever number of errors it has: the model has seen none of them when
    it makes the next.
    """

    def __init__(self, size: int | None) -> None:
        """Make an empty ring.

        Args:
            size: How many answers it holds, and how many with an identical error open the circuit;
                None for a circuit that never opens.
        """
        self._size = size
        self._entries: deque[tuple[ErrorT, ...]] = deque(maxlen=size)

    def add(self, errors: Iterable[ErrorT]) -> None:
        """Add the errors of an answer, in the order of its calls."""
        self._entries.append(tuple(errors))

    def list_entries(self) -> list[tuple[ErrorT, ...]]:
        """Return the errors of each answer, the oldest first."""
        return list(self._entries)

    def clear(self) -> None:
        """Forget all errors, because something succeeded."""
        self._entries.clear()

    def count(self, error: ErrorT) -> int:
        """Return in how many of the latest answers, without a gap, an error occurred."""
        return sum(1 for _ in takewhile(lambda entry: error in entry, reversed(self._entries)))

    @property
    def opened_by(self) -> ErrorT | None:
        """The error that opened the circuit, the first of several; None while it is closed."""
        latest = self._entries[-1] if self._entries else ()
        return next((error for error in latest if self.count(error) == self._size), None)


@dataclass(frozen=True)
class GivenUp:
    """Why a turn ends."""

    tool_name: str
    """The tool whose calls failed; empty where no call was made."""
    reason: str


_MAX_CHARS = 300
"""How much of an error, or of a list of names, a message quotes."""

TEMPLATES = {
    ErrorKind.NO_TOOL_CALL: (
        "Call a tool now: your last message has no tool call, and only a tool can end the task."
    ),
    ErrorKind.QUOTED_CALL: (
        "Nothing ran: your call of `{name}` is in a code block, inline code, a comment or a"
        " quotation. To run it, write it again outside of them. If you only meant to show it, repeat"
        " your answer."
    ),
    ErrorKind.BAD_PAYLOAD: "Write {call} again as one complete call. Found: {text}.",
    ErrorKind.NO_TOOL_NAME: "Write {call} again with the name of a tool. It has none. {tools}",
    ErrorKind.UNKNOWN_TOOL: (
        "Write {call} again with the name of an existing tool. There is no tool `{name}`. {tools}"
    ),
    ErrorKind.BAD_ARGUMENTS: (
        "Write {call} again with arguments that fit the schema of `{name}`. Found: {text}."
    ),
    # The text of a tool is not quoted: it may come from anywhere, and this is a message of the user.
    ErrorKind.TOOL_FAILED: (
        "Change the arguments of {call}, or go on without it. `{name}` failed; its result says why."
    ),
    ErrorKind.CALL_DENIED: (
        "Go on without {call}. The call of `{name}` was denied; its result says why."
    ),
}
SOME_SUCCEEDED = "Do not repeat the other calls: they succeeded."
REPEATED = "The same error occurred {count} times in a row. After {most} times the task is ended."
EXAMPLE = "Example of a call: {example}"
_ABOUT_FORM = frozenset(TEMPLATES) - {ErrorKind.TOOL_FAILED, ErrorKind.CALL_DENIED}


def line_about(error: RecoverableError, calls: int, tools: Mapping[str, Any]) -> str:
    """Return what the model reads of one error.

    Args:
        error: The error.
        calls: How many calls its answer has.
        tools: Mounted tools by name.
    """
    call = (
        "your call" if error.index is None or calls == 1 else f"call {error.index + 1} of {calls}"
    )
    return TEMPLATES[error.kind].format(
        call=call,
        name=clip_line(error.tool_name),
        text=clip_line(error.text).rstrip("."),
        tools=_suggest_choice(error.tool_name, tools),
    )


def tool_for_example(errors: Iterable[RecoverableError], tools: Mapping[str, Any]) -> str | None:
    """Return the tool that an example calls; None where no error is about the form of calls.

    It is the tool that the first of these errors meant, else one that ends turns, else any.
    """
    names = [error.tool_name for error in errors if error.kind in _ABOUT_FORM]
    if not names or not tools:
        return None
    meant = filter(None, (_find_nearest(name, tools) for name in names))
    final = (name for name, tool in tools.items() if can_end_turn(tool))
    return next(meant, None) or next(final, None) or next(iter(tools))


def reminder_of(lines: Sequence[str]) -> str:
    """Return the message with these lines."""
    text = "\n".join(lines)
    return f"<system-reminder>{text}</system-reminder>"


def clip_line(text: str) -> str:
    """Return a text on one line, cut where it is too long for a message."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARS else f"{line[:_MAX_CHARS]}…"


def _find_nearest(name: str, tools: Mapping[str, Any]) -> str | None:
    import difflib  # late: most turns have no such error

    return name if name in tools else next(iter(difflib.get_close_matches(name, tools, n=1)), None)


def _suggest_choice(name: str, tools: Mapping[str, Any]) -> str:
    if nearest := _find_nearest(name, tools):
        return f"Did you mean `{nearest}`?"
    return f"The tools: {clip_line(', '.join(f'`{each}`' for each in sorted(tools)) or 'none')}."
