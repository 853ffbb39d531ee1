"""Event loops whose clock jumps to the next timer when there is nothing else to do."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

import anyio
from trio.testing import MockClock

from amplifier_core import world


class _JumpingSelector(selectors.DefaultSelector):
    jumped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0 if timeout is None or timeout > 0 else timeout)
        if ready or not timeout:
            return ready if timeout is not None else super().select(None)
        self.jumped += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop of asyncio in which no timer takes time."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.jumped


BACKENDS = {
    "asyncio": lambda: ("asyncio", {"loop_factory": VirtualLoop}),
    "trio": lambda: ("trio", {"clock": MockClock(autojump_threshold=0)}),
}
"""What `anyio_backend` returns for a test in virtual time."""


class LoopWorld(world.World):
    """The system, with the clock of the event loop."""

    def monotonic(self) -> float:
        return anyio.current_time()
