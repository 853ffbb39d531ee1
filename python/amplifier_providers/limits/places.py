"""Places for the calls that run at once, given in the order in which they were asked for."""

from __future__ import annotations

from collections import deque
from threading import Lock

import anyio

from ..running.run_sync import caller_into_loop


class Places:
    """A number of places; safe to share between event loops and threads."""

    def __init__(self, count: int | None) -> None:
        """Have so many places; None for no limit."""
        self._free = count
        self._queue: deque[Place] | None = None
        """Those that wait, once any has: an empty `deque` takes 760 bytes of each session."""
        self._lock = Lock()

    def ask(self) -> Place:
        """Ask for a place: it is given at once, or waits in the queue until `leave`."""
        place = Place(self)
        with self._lock:
            if self._free is None:
                place.is_given = True
            elif self._free and not self._queue:
                self._free -= 1
                place.is_given = True
            else:
                place.wait_here()
                if self._queue is None:
                    self._queue = deque()
                self._queue.append(place)
        return place

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._queue or ())

    def leave(self, place: Place) -> None:
        """Take a place back, or one that waits out of the queue."""
        with self._lock:
            if place.is_left:
                return
            place.is_left = True
            if not place.is_given:
                if self._queue:
                    self._queue.remove(place)
                return
            if self._free is None:
                return
            while self._queue:
                following = self._queue.popleft()
                following.is_given = True
                if following.wake():
                    return
                following.is_left = True
            self._free += 1


class Place:
    """A place, or the wait for one."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.is_given = False
        self.is_left = False

    def wait_here(self) -> None:
        """Wait in the event loop that runs here."""
        self._event = anyio.Event()
        self._call_soon = caller_into_loop()

    def wake(self) -> bool:
        """Let the wait end; False if its event loop has ended."""
        try:
            self._call_soon(self._event.set)
        except RuntimeError:
            return False
        return True

    async def wait_until_given(self) -> None:
        """Wait until the place is given; on a cancellation it is left."""
        if self.is_given:
            return
        try:
            await self._event.wait()
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Give the place back, or leave the queue; again without effect."""
        self._places.leave(self)
