"""A number with its noun."""

from __future__ import annotations


def count_noun(number: int, noun: str, plural: str | None = None) -> str:
    """`1 file`, `1,234 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
