"""Further folders that commands in a sandbox use, which may become more while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class AddedPlaces:
    """Asked before each command; the paths are absolute, links followed."""

    find_shown: Callable[[], Sequence[str]] = tuple
    """Returns those that are read."""
    find_writable: Callable[[], Sequence[str]] = tuple
    """Returns those of them that are written, too."""
