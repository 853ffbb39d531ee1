"""The end of a program whose daemon threads still use the engine.

Python ends such threads by unwinding them, which nothing gets through the frames of Rust: the
process would abort. So they are kept from entering the engine, and waited for to leave it.
"""

from __future__ import annotations

import sys
import threading
import time
from types import FrameType

PATIENCE_SECONDS = 2.0
"""The longest wait for what other threads are running, in seconds."""

_IMPORTING = "<frozen importlib._bootstrap>"
"""The file of the frames of an import: a thread that ends in one leaves its lock held, and later
imports of the same module wait for ever."""


def leave() -> None:
    """Refuse the engine to all other threads, and wait until none is in it."""
    from .._engine import _leave_to_this_thread  # pyright: ignore[reportPrivateUsage]
    from .drive import __file__ as drivers  # where another thread is importing it, that is awaited

    _leave_to_this_thread()
    latest = time.monotonic() + PATIENCE_SECONDS
    busy = {drivers, _IMPORTING}
    while _is_busy(busy) and time.monotonic() < latest:
        time.sleep(0.001)


def _is_busy(files: set[str]) -> bool:
    mine = threading.get_ident()
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] -- there is no other way
    return any(_is_in_files(frame, files) for thread, frame in frames.items() if thread != mine)


def _is_in_files(frame: FrameType | None, files: set[str]) -> bool:
    while frame is not None:
        if frame.f_code.co_filename in files:
            return True
        frame = frame.f_back
    return False
