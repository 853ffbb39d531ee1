"""An event loop without a world around it: its clock is a number, its order is that of a seed."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from random import Random
from typing import Any

from amplifier_core.world import World

MAX_BATCHES = 100_000
"""A session that takes more batches of callbacks turns in a circle."""


class StuckError(Exception):
    """Nothing can go on, or nothing comes to an end."""


class SeededLoop(asyncio.BaseEventLoop):
    """An event loop whose time jumps to the next timer when there is nothing else to do.

    The callbacks that are ready at the same moment run in an order that the seed decides, as those
    of trio do. There are no files, sockets, threads or signals: what waits for one is stuck.
    """

    def __init__(self, random: Random | None, after_batch: Callable[[], None]) -> None:
        """Begin at the time 0.

        Args:
            random: Decides the order of callbacks; None for the order in which they became ready.
            after_batch: Called when all callbacks that were ready have run.
        """
        super().__init__()
        self._random = random
        self._now = 0.0
        self._batches = 0
        self._timers: list[Any] = self._scheduled  # of `BaseEventLoop`: a heap of timers
        self.after_batch = after_batch

    def time(self) -> float:
        """Return the seconds since the beginning."""
        return self._now

    def _write_to_self(self) -> None:
        """Do nothing: no selector has to be woken."""

    def _run_once(self) -> None:
        timers, ready = self._timers, self._ready
        while timers and timers[0].cancelled():
            heapq.heappop(timers)._scheduled = False
        if not ready and not self._stopping:
            if not timers:
                raise StuckError("every task waits, and nothing can wake one")
            self._now = max(self._now, timers[0].when())
        while timers and timers[0].when() <= self._now:
            timer = heapq.heappop(timers)
            timer._scheduled = False
            ready.append(timer)
        batch = list(ready)
        ready.clear()
        if self._random is not None:
            self._random.shuffle(batch)
        for handle in batch:
            if not handle.cancelled():
                handle._run()
        self._batches += 1
        if self._batches > MAX_BATCHES:
            raise StuckError(f"{MAX_BATCHES:,} batches of callbacks, and no end at {self._now} s")
        self.after_batch()


class LoopWorld(World):
    """The time of a loop, and the randomness of a seed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, random: Random) -> None:
        """Begin where the loop is.

        Args:
            loop: Its clock is read, from any place.
            random: Makes ids and jitter.
        """
        self._loop = loop
        self._random = random

    def time(self) -> float:
        """Return the seconds since the epoch, at which every loop began."""
        return self._loop.time()

    def monotonic(self) -> float:
        """Return the time of the loop."""
        return self._loop.time()

    def random(self) -> float:
        """Return the next number of the seed."""
        return self._random.random()

    def random_bytes(self, count: int) -> bytes:
        """Return the next bytes of the seed."""
        return self._random.randbytes(count)
