"""Events handed from the task of a turn to whoever reads them, one at a time."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import anyio
import anyio.lowlevel

ItemT = TypeVar("ItemT")


class Handover(Generic[ItemT]):
    """A queue without room: who puts an item in waits until it is taken.

    Nobody waits once it is abandoned.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._waiting: deque[tuple[ItemT, anyio.Event]] = deque()
        self._arrived: anyio.Event | None = None
        self._is_over = False

    async def put(self, item: ItemT) -> None:
        """Offer an item, and wait until it is taken."""
        if self._is_over:
            # Where the turn is cancelled, it ends here.
            await anyio.lowlevel.checkpoint()
            return
        taken = anyio.Event()
        entry = (item, taken)
        self._waiting.append(entry)
        self._wake()
        try:
            await taken.wait()
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)

    async def take(self) -> ItemT:
        """Wait for an item.

        Raises:
            StopAsyncIteration: It is over.
        """
        while not self._waiting:
            if self._is_over:
                raise StopAsyncIteration
            self._arrived = anyio.Event()
            await self._arrived.wait()
        item, taken = self._waiting.popleft()
        taken.set()
        return item

    def finish(self) -> None:
        """Nothing more comes; call it in the thread of the loop."""
        self._is_over = True
        self._wake()

    def abandon(self) -> None:
        """Nobody takes items any more; call it in the thread of the loop."""
        self._is_over = True
        while self._waiting:
            self._waiting.popleft()[1].set()
        self._wake()

    def _wake(self) -> None:
        arrived, self._arrived = self._arrived, None
        if arrived is not None:
            arrived.set()
