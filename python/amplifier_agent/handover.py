"""Events handed from the task of a turn to whoever takes them, which is a little behind."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Generic, TypeVar

import anyio
import anyio.lowlevel

from amplifier_core.event_loop import find_asyncio_loop
from amplifier_modules.running.background import is_cancelled_from_outside

AHEAD = 64
"""How many items may wait before the turn waits, too."""

ItemT = TypeVar("ItemT")


class Handover(Generic[ItemT]):
    """A queue whose two sides wait only where it is full, or empty.

    Nobody waits once it is abandoned.
    """

    __slots__ = ("_ahead", "_arrived", "_taken", "_waiting", "is_over")

    def __init__(self, ahead: int = AHEAD) -> None:
        """Begin empty.

        Args:
            ahead: How many items may wait before it is full.
        """
        self._ahead = ahead
        # A list: it is short, and an empty deque takes twelve times its memory.
        self._waiting: list[ItemT] = []
        self._arrived: Any = None
        """What who takes items waits for, if they do: an event, or a future of asyncio."""
        self._taken: list[anyio.Event] = []
        """What those wait for who wait until all is taken."""
        self.is_over = False
        """Whether no further item comes."""

    @property
    def is_nearly_full(self) -> bool:
        """Whether it is full with a further item."""
        return len(self._waiting) >= self._ahead - 1

    @property
    def is_empty(self) -> bool:
        """Whether all items were taken, by somebody who may want more."""
        return not self._waiting and not self.is_over

    def add(self, item: ItemT) -> bool:
        """Add an item; one that nobody takes any more is dropped.

        Returns:
            Whether it is full with a further item, after which `wait_until_taken` should follow.
        """
        if self.is_over:
            return True
        waiting = self._waiting
        waiting.append(item)
        if self._arrived is not None:
            self._wake_taker()
        return len(waiting) >= self._ahead - 1

    async def wait_until_taken(self) -> None:
        """Wait until all items that were added are taken; not where the loop ends, and its tasks."""
        if self.is_over or (self._waiting and is_cancelled_from_outside()):
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
        item = self._waiting.pop(0)
        if self._taken and not self._waiting:
            self._release()
        return item

    def expect_item(self) -> Awaitable[object]:
        """Return what to await before the next item is there, or it is over; for one taker."""
        # A bare future takes a fifth of the time of an `anyio.Event`, for nearly each delta.
        if (loop := find_asyncio_loop()) is None:
            arrived = anyio.Event()
            self._arrived = arrived
            return arrived.wait()
        future = self._arrived = loop.create_future()
        return future

    def finish(self) -> None:
        """Nothing more comes; call it in the thread of the loop."""
        self.is_over = True
        if self._arrived is not None:
            self._wake_taker()

    def abandon(self) -> None:
        """Nobody takes items any more; call it in the thread of the loop."""
        self.is_over = True
        self._waiting.clear()
        self._release()
        if self._arrived is not None:
            self._wake_taker()

    def _wake_taker(self) -> None:
        arrived, self._arrived = self._arrived, None
        if isinstance(arrived, anyio.Event):
            arrived.set()
        # Who waited may have been cancelled.
        elif not arrived.done():
            arrived.set_result(None)

    def _release(self) -> None:
        waiting, self._taken = self._taken, []
        for taken in waiting:
            taken.set()
