"""Counts as the engine expects them."""

from __future__ import annotations

from operator import index

_MAX_COUNT = 2**32 - 1


def count(name: str, value: int) -> int:
    """Return a count, or raise an error that names its setting."""
    if not 0 <= index(value) <= _MAX_COUNT:
        raise ValueError(f"`{name}` must be from 0 to {_MAX_COUNT}, found `{value}`")
    return value
