"""What a model can correct in its next answer, and when equal errors end the turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Generic, TypeVar


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
