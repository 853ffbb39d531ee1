"""How long ago something was."""

from __future__ import annotations

from amplifier_core import world
from amplifier_providers.running.count_noun import count_noun

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def write_age(time: float) -> str:
    """Return how long ago a time was that is given in seconds since the epoch."""
    seconds = world.time() - time
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{count_noun(int(seconds // length), unit)} ago"
    return "now"
