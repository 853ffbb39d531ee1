"""The time that a call may take, which stands still while a person is asked."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from amplifier_core.interruption import Interruption


class CallLimit:
    """Ends what a call awaits after its time."""

    def __init__(self, block: Interruption, seconds: float) -> None:
        """Begin to count.

        Args:
            block: The block around the call.
            seconds: How long it may take.
        """
        self._block = block
        self._until = block.now() + seconds
        self._holds = 0
        self._held_since = 0.0

    def arm_timer(self) -> None:
        """End the block in time."""
        if not self._holds:
            self._block.end_at(self._until)

    @contextmanager
    def hold(self) -> Generator[None]:
        """Let no time pass for the call in this block."""
        if not self._holds:
            self._held_since = self._block.now()
            self._block.end_at(inf)
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if not self._holds:
                self._until += self._block.now() - self._held_since
                self.arm_timer()


CALL_LIMIT: ContextVar[CallLimit | None] = ContextVar("call_limit", default=None)
"""That of the call that runs now; None for no limit."""
