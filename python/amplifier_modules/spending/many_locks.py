"""Several locks that are held at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from threading import Lock
from types import TracebackType


class ManyLocks:
    """Holds all of some locks in `with`; all threads take them in the same order."""

    def __init__(self, locks: Sequence[Lock]) -> None:
        """Hold these."""
        self._locks = sorted(locks, key=id)

    def __enter__(self) -> None:
        """Take them, or none."""
        with ExitStack() as taken:
            for lock in self._locks:
                taken.enter_context(lock)
            taken.pop_all()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give them back."""
        for lock in self._locks:
            lock.release()
