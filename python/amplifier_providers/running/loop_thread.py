"""The thread of an event loop, into which other threads can call."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from amplifier_core.event_loop import asyncio_loop


class LoopThread:
    """Calls functions in the thread of one event loop, asyncio's or trio's."""

    def __init__(self) -> None:
        """Belong to no loop yet."""
        self._call_soon: Callable[[Callable[[], object]], Any] | None = None
        self._thread: int | None = None

    def enter(self) -> None:
        """Belong to the loop that runs here.

        Raises:
            RuntimeError: It belongs to another one.
        """
        thread = threading.get_ident()
        if self._thread is not None:
            if self._thread != thread:
                raise RuntimeError("a `Session` belongs to one event loop, and was used in another")
            return
        self._thread, self._call_soon = thread, caller_into_loop()

    def call(self, function: Callable[[], object]) -> None:
        """Call a function: at once in the loop's own thread, else soon."""
        if self._call_soon is None or threading.get_ident() == self._thread:
            function()
        else:
            self._call_soon(function)


def caller_into_loop() -> Callable[[Callable[[], object]], Any]:
    """Return what calls a function soon in the event loop that runs here, from any thread."""
    loop = asyncio_loop()
    if loop is not None:
        return loop.call_soon_threadsafe
    import sniffio

    sniffio.current_async_library()  # raises where none runs
    return sys.modules["trio"].lowlevel.current_trio_token().run_sync_soon
