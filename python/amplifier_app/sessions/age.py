"""How long ago something was."""

from __future__ import annotations

from amplifier_core import world

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def write_age(time: float) -> str:
    """Return how long ago a time was that is given in seconds since the epoch."""
    seconds = world.time() - time
    for length, unit in _UNITS:
        if seconds >= length:
            count = int(seconds // length)
            return f"{count:,} {unit}{'' if count == 1 else 's'} ago"
    return "now"
