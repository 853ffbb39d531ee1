"""Values in seconds by their size, in memory that does not grow."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

__all__ = ["Histogram"]

_BOUNDS = tuple(base * 10.0**power for power in range(-6, 2) for base in (1.0, 2.0, 5.0))


class Histogram:
    """Values in seconds by their size."""

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
        """Return everything as plain data.

        `buckets` are pairs of an upper bound and how many values are at most that and over the
        bound before; a bound of None is for the rest.
        """
        bounds = (*_BOUNDS, None)
        filled = [[b, n] for b, n in zip(bounds, self._counts, strict=True) if n]
        return {
            "count": sum(self._counts),
            "sum": self._sum,
            "max": self._largest,
            "buckets": filled,
        }
