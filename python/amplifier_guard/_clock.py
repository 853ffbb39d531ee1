"""Time in nanoseconds, for the engine, and in seconds, for messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Returns the current time in nanoseconds, such as `time.monotonic_ns`."""

_LAST = 2**64 - 1


def now(clock: Clock) -> int:
    """Read a clock; a value outside the engine's range becomes the nearest in it."""
    return min(max(clock(), 0), _LAST)


def in_seconds(seconds: float) -> str:
    """Show a duration, rounded up to the next millisecond: `4 s`, `0.25 s`, `inf s`."""
    milliseconds = seconds * 1000
    rounded = math.ceil(milliseconds) / 1000 if math.isfinite(milliseconds) else seconds
    text = f"{rounded:.3f}"
    return f"{text.rstrip('0').rstrip('.')} s"
