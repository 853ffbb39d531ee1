"""Time in which a wait takes no time."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import anyio.lowlevel
import pytest

_monotonic = time.monotonic
_time = time.time


class KitClock:
    """The real time, and on top of it what was slept.

    A provider that takes a clock and a `sleep` is given these methods. For others the kit replaces
    `asyncio.sleep`, `anyio.sleep`, `trio.sleep` and the functions of `time` that tell the time,
    while it looks at retries. A wait that none of this reaches is a real one: the same tests hold,
    and take longer.
    """

    def __init__(self) -> None:
        """Begin with the real time."""
        self._slept = 0.0

    def monotonic(self) -> float:
        """Return what `time.monotonic` would after these waits."""
        return _monotonic() + self._slept

    def monotonic_ns(self) -> int:
        """Return what `time.monotonic_ns` would."""
        return round(self.monotonic() * 1e9)

    def time(self) -> float:
        """Return what `time.time` would."""
        return _time() + self._slept

    def time_ns(self) -> int:
        """Return what `time.time_ns` would."""
        return round(self.time() * 1e9)

    async def sleep(self, seconds: float, result: Any = None) -> Any:
        """Let so many seconds pass at once; other tasks have their turn."""
        self._slept += max(0.0, seconds)
        await anyio.lowlevel.checkpoint()
        return result

    @contextmanager
    def replace_clocks(self) -> Generator[None]:
        """Let everybody who sleeps or asks for the time by its usual name do so here."""
        import asyncio

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio, "sleep", self.sleep)
            patch.setattr(anyio, "sleep", self.sleep)
            try:
                import trio
            except ImportError:
                pass
            else:
                patch.setattr(trio, "sleep", self.sleep)
            for name in ("monotonic", "monotonic_ns", "time", "time_ns"):
                patch.setattr(time, name, getattr(self, name))
            yield
