"""Histograms of durations, with a fixed number of buckets."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

__all__ = ["Histogram"]

_BOUNDS = tuple(base * 10.0**power for power in range(-6, 2) for base in (1.0, 2.0, 5.0))


class Histogram:
    """A histogram of durations in seconds."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0
        self._largest: float | None = None

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(_BOUNDS, value)] += 1
        self._sum += value
        self._largest = value if self._largest is None else max(self._largest, value)

    def snapshot(self) -> dict[str, Any]:
        """Return the histogram as plain data.

        `buckets` are pairs of an upper bound and the number of values up to it and above the bound
        before; the last bound, None, is for larger values. Empty buckets are left out.
        """
        bounds = (*_BOUNDS, None)
        filled = [[b, n] for b, n in zip(bounds, self._counts, strict=True) if n]
        return {
            "count": sum(self._counts),
            "sum": self._sum,
            "max": self._largest,
            "buckets": filled,
        }
