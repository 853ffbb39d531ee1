"""How many calls of different clients run at the same time."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio


class CallGate:
    """Lets calls run together, up to a limit, and one that is exclusive alone.

    As in the calls of one answer, they begin in their order: what comes after an exclusive one that
    waits, waits too.
    """

    def __init__(self, most: int | None) -> None:
        """Let so many run at the same time; None for no limit."""
        self._most = math.inf if most is None else most
        self._running = 0
        self._is_alone = False
        self._ended = anyio.Event()
        self._order = anyio.Lock()

    @asynccontextmanager
    async def hold(self, *, is_exclusive: bool) -> AsyncGenerator[None]:
        """Run the block when it may."""
        async with self._order:
            while self._is_alone or self._running >= (1 if is_exclusive else self._most):
                self._ended = anyio.Event()
                await self._ended.wait()
            self._running += 1
            self._is_alone = is_exclusive
        try:
            yield
        finally:
            self._running -= 1
            if is_exclusive:
                self._is_alone = False
            self._ended.set()
