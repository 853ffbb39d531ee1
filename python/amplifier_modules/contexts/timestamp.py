"""When messages were added, as text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from amplifier_core import world


class Timestamps:
    """Writes the current time: UTC, to the millisecond, as `2026-01-31T12:00:00.000+00:00`.

    What all times of one second have in common is written once, and so is each time: each message
    has one, and to write it anew takes five times as long.
    """

    def __init__(self, clock: Callable[[], float] = world.time) -> None:
        """Write the time of a clock that returns seconds since 1970."""
        self._clock = clock
        # Replaced as a whole, as several threads may write times.
        self._last: tuple[int, str] = (-1, "")
        self._second: tuple[int, str] = (-1, "")

    def __call__(self) -> str:
        """Return the time now."""
        milliseconds = int(self._clock() * 1000)
        known, written = self._last
        if milliseconds != known:
            second, thousandth = divmod(milliseconds, 1000)
            known, beginning = self._second
            if second != known:
                beginning = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
                self._second = second, beginning
            written = f"{beginning}.{thousandth:03d}+00:00"
            self._last = milliseconds, written
        return written


write_now = Timestamps().__call__
"""Writes the time now, for all conversations of the process."""
