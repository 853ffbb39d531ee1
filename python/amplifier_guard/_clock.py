"""Seconds: of a clock, and in messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Returns the current time in seconds, such as `world.monotonic`."""


def in_seconds(seconds: float) -> str:
    """Show a duration, rounded up to the next millisecond: `4 s`, `0.25 s`, `inf s`."""
    milliseconds = seconds * 1000
    rounded = math.ceil(milliseconds) / 1000 if math.isfinite(milliseconds) else seconds
    text = f"{rounded:.3f}"
    return f"{text.rstrip('0').rstrip('.')} s"
