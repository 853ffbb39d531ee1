"""Numbers of tokens: never negative, never missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NewType

TokenCount = NewType("TokenCount", int)
"""A number of tokens from 0 to `MOST_TOKENS`; `read_count` makes it of what others report."""

MOST_TOKENS = TokenCount(2**63 - 1)
"""The largest number that the typed messages hold."""


def read_count(value: object) -> TokenCount | None:
    """Return a reported number of tokens; None if it is not known.

    Whatever is not a whole number from 0 to `MOST_TOKENS` is not known: null, text, a bool, a
    negative number.
    """
    if type(value) is not int or not 0 <= value <= MOST_TOKENS:
        return None
    return TokenCount(value)


def sum_counts(counts: Iterable[TokenCount | None]) -> TokenCount:
    """Add up what is known; a sum above `MOST_TOKENS` is `MOST_TOKENS`."""
    return TokenCount(min(sum(count or 0 for count in counts), MOST_TOKENS))
