"""Time in which a wait takes no time."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import Any

import anyio.lowlevel
import pytest

from amplifier_core import world

_monotonic = time.monotonic
_time = time.time


class KitClock(world.World):
    """The real time, and on top of it what was slept.

    While the kit calls a provider, it is `amplifier_core.world` in use. A provider that takes a clock
    and a `sleep` can be given these methods. A wait that it does not reach is a real one: the same
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

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass at once; other tasks have their turn."""
        self._slept += max(0.0, seconds)
        await anyio.lowlevel.checkpoint()

    @contextmanager
    def use(self, *, patches: bool) -> Generator[None]:
        """Let all that reads the world do so here.

        Args:
            patches: Whether that is also done with `asyncio.sleep`, `anyio.sleep`, `trio.sleep` and
                the functions of `time` that return the time, for what does not read the world.
        """
        patched = self._patch_names() if patches else nullcontext()
        with world.use(self), patched:
            yield

    @contextmanager
    def _patch_names(self) -> Generator[None]:
        import asyncio

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio, "sleep", self._sleep_for)
            patch.setattr(anyio, "sleep", self._sleep_for)
            try:
                import trio
            except ImportError:
                pass
            else:
                patch.setattr(trio, "sleep", self._sleep_for)
            for name in ("monotonic", "monotonic_ns", "time", "time_ns"):
                patch.setattr(time, name, getattr(self, name))
            yield

    async def _sleep_for(self, seconds: float, result: Any = None) -> Any:
        """Wait as `asyncio.sleep` does, which returns the result it is given."""
        await self.sleep(seconds)
        return result
