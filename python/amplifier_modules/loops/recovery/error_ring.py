"""A circuit breaker for answers of the model: the same error in each of the latest answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from itertools import takewhile
from typing import Generic, TypeVar

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
