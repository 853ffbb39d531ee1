"""The amounts of a model call: tokens and dollars as others report them, and estimates of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
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


def read_dollars(value: object) -> Decimal | None:
    """Return a reported amount of US dollars; None if it is not known.

    Whatever is not a finite number from 0 on is not known: null, a bool, NaN, a negative number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None


@dataclass(frozen=True)
class Estimate:
    """What a model call will use, as far as that is known before it is made."""

    tokens: int = 0
    cost: Decimal = Decimal(0)
    output_tokens: int = 0
    """Those of the tokens that are for the answer; 0 where its length is not known."""
    is_priced: bool = False
    """Whether the cost is the most that the call may cost."""


NOTHING = Estimate()
"""The estimate of a call of which nothing is known."""


@dataclass(frozen=True)
class Spent:
    """What a model call, or a part of it, has used."""

    tokens: int = 0
    cost: Decimal | None = Decimal(0)
    """US dollars; None if they are not known."""
