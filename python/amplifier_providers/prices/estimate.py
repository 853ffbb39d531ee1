"""Amounts of a model call: what is held back for it, and what it has used."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


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
