"""A moment as people read it on a clock."""

from __future__ import annotations

from datetime import UTC, datetime

from amplifier_core import world


def write_time(moment: float) -> str:
    """Return the local time of a moment in seconds since the epoch, and its date unless it is today."""
    then, now = (datetime.fromtimestamp(each, UTC).astimezone() for each in (moment, world.time()))
    return f"{then:%H:%M}" if then.date() == now.date() else f"{then:%Y-%m-%d %H:%M}"
