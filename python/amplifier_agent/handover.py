"""Events handed from the task of a turn to whoever takes them, which is a little behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import anyio
import anyio.lowlevel

from amplifier_core.event_loop import find_asyncio_loop

AHEAD = 64
"""How many items may wait before the turn waits, too."""

ItemT = TypeVar("ItemT")


class Handover(Generic[ItemT]):
    """A queue whose two sides wait only where it is full, or empty.

    Nobody waits once it is abandoned.
    """

    def __init__(self, ahead: int = AHEAD) -> None:
        """Begin empty.

        Args:
            ahead: How many items may wait before it is full.
        """
        self._ahead = ahead
        self._waiting: deque[ItemT] = deque()
        self._wake: Callable[[], object] | None = None
        """Wakes who waits for an item."""
        self._taken: list[anyio.Event] = []
        """What those wait for who wait until all is taken."""
        self._is_over = False

    @property
    def is_nearly_full(self) -> bool:
        """Whether it is full with a further item."""
        return len(self._waiting) >= self._ahead - 1

    @property
    def is_empty(self) -> bool:
        """Whether all items were taken, by somebody who may want more."""
        return not self._waiting and not self._is_over

    def add(self, item: ItemT) -> bool:
        """Add an item; one that nobody takes any more is dropped.

        Returns:
            Whether it is full with a further item, after which `wait_until_taken` should follow.
        """
        if self._is_over:
            return True
        waiting = self._waiting
        waiting.append(item)
        if self._wake is not None:
            self._wake_taker()
        return len(waiting) >= self._ahead - 1

    async def wait_until_taken(self) -> None:
        """Wait until all items that were added are taken."""
        if self._is_over:
            # Where the turn is cancelled, it ends here.
            await anyio.lowlevel.checkpoint()
        elif self._waiting:
            taken = anyio.Event()
            self._taken.append(taken)
            try:
                await taken.wait()
            finally:
                if taken in self._taken:
                    self._taken.remove(taken)
            # What was asked for while items were taken, such as the end of the turn, comes first.
            await anyio.lowlevel.checkpoint()

    def take_now(self) -> ItemT | None:
        """Return an item that is there already; None if there is none."""
        if not self._waiting:
            return None
        item = self._waiting.popleft()
        if self._taken and not self._waiting:
            self._release()
        return item

    async def take(self) -> ItemT:
        """Wait for an item.

        Raises:
            StopAsyncIteration: It is over.
        """
        while (item := self.take_now()) is None:
            if self._is_over:
                raise StopAsyncIteration
            await self._wait_for_item()
        return item

    def finish(self) -> None:
        """Nothing more comes; call it in the thread of the loop."""
        self._is_over = True
        self._wake_taker()

    def abandon(self) -> None:
        """Nobody takes items any more; call it in the thread of the loop."""
        self._is_over = True
        self._waiting.clear()
        self._release()
        self._wake_taker()

    async def _wait_for_item(self) -> None:
        loop = find_asyncio_loop()
        if loop is None:
            arrived = anyio.Event()
            self._wake = arrived.set
            await arrived.wait()
            return
        # A bare future takes a fifth of the time of an `anyio.Event`, for nearly each delta.
        future = loop.create_future()
        self._wake = lambda: _end(future)
        await future

    def _wake_taker(self) -> None:
        wake, self._wake = self._wake, None
        if wake is not None:
            wake()

    def _release(self) -> None:
        waiting, self._taken = self._taken, []
        for taken in waiting:
            taken.set()


def _end(future: Any) -> None:
    # Who waited may have been cancelled.
    if not future.done():
        future.set_result(None)
