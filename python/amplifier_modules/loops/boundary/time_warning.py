"""The warning that most of the time of a turn is over, in the middle of whatever it does."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import inf

import anyio

from amplifier_core.interruption import Interruption

from ...spending.ledger import Ledger
from .together import together

_SHORTEST_SECONDS = 0.001
"""Between two looks at a clock that may be a little behind that of the event loop."""


@asynccontextmanager
async def warned_in_time(ledger: Ledger) -> AsyncGenerator[None]:
    """Warn when most of the seconds of a turn are over, while the turn goes on in the block.

    At the end of the block, the handler of a warning that is being emitted is cancelled.
    """
    if ledger.seconds_to_warning() is None:
        yield
        return
    timer = _Timer(ledger)
    async with together() as running:
        cancel = running.start(timer.run, _nothing)
        try:
            yield
        finally:
            if not timer.end():
                cancel()


class _Timer:
    """Waits until most of the seconds are over, and warns."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._block: Interruption | None = None
        self._changed = anyio.Event()

    async def run(self) -> None:
        with Interruption() as block, self._ledger.noticing_pauses(lambda: block.soon(self._look)):
            self._block = block
            while (seconds := self._ledger.seconds_to_warning()) is not None:
                if seconds <= 0:
                    await self._ledger.warn()
                    continue
                longest = inf if self._ledger.is_paused else max(seconds, _SHORTEST_SECONDS)
                with anyio.move_on_after(longest):
                    await self._changed.wait()
                    self._changed = anyio.Event()

    def _look(self) -> None:
        self._changed.set()

    def end(self) -> bool:
        """End what it awaits; false if it has not begun."""
        if self._block is not None:
            self._block.end()
        return self._block is not None


def _nothing() -> None:
    """Do nothing."""
