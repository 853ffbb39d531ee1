"""Time in which a wait takes no time."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import anyio.lowlevel
import pytest

from amplifier_core import world

_monotonic = time.monotonic
_time = time.time


class KitClock(world.World):
    """The real time, and on top of it what was slept.

    While the kit calls a provider, it is the world that all code of ours reads. For a provider that
    does not read `amplifier_core.world`, the kit also replaces `asyncio.sleep`, `anyio.sleep`,
    `trio.sleep` and the functions of `time` that return the time; one that takes a clock and a
    `sleep` can be given these methods. A wait that none of this reaches is a real one: the same
    tests hold, and take longer.
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
        """Let all that reads the world, or sleeps or reads the time by a usual name, do so here."""
        import asyncio

        with world.use(self), pytest.MonkeyPatch.context() as patch:
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
