"""The end of a program whose daemon threads still use the engine.

Python ends such threads by unwinding them, which nothing gets through the frames of Rust: the
process would abort. So they are kept from entering the engine, and waited for to leave it.
"""

from __future__ import annotations

import sys
import threading
import time
from types import FrameType

PATIENCE = 2.0
"""The longest wait for handlers that are running in other threads, in seconds."""


def leave() -> None:
    """Refuse the engine to all other threads, and wait until none is in it."""
    from ._drive import __file__ as drivers  # where another thread is importing it, that is awaited
    from ._engine import _leave_to_this_thread  # pyright: ignore[reportPrivateUsage]

    _leave_to_this_thread()
    latest = time.monotonic() + PATIENCE
    while _is_in_use(drivers) and time.monotonic() < latest:
        time.sleep(0.001)


def _is_in_use(drivers: str) -> bool:
    mine = threading.get_ident()
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] -- there is no other way
    return any(_passes(frame, drivers) for thread, frame in frames.items() if thread != mine)


def _passes(frame: FrameType | None, drivers: str) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == drivers:
            return True
        frame = frame.f_back
    return False
