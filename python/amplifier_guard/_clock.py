"""Time as the engine takes it: whole nanoseconds from 0 on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Gives now in nanoseconds, such as `time.monotonic_ns`."""

_LAST = 2**64 - 1


def now(clock: Clock) -> int:
    """Read a clock; what the engine cannot hold becomes the nearest that it can."""
    return min(max(clock(), 0), _LAST)
