"""How much of each kind that a budget limits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, kw_only=True)
class BudgetAmounts:
    """What is used of a shared budget, or what is left of it."""

    model_calls: int | None
    """Calls of the model; of what is left, None is no limit."""
    tool_calls: int | None
    """Calls of tools; None as above."""
    tokens: int | None
    """Tokens of requests and answers; None as above."""
    cost: Decimal | None
    """US dollars; None as above, and of what is used where the price of a call is not known."""
    seconds: float | None
    """Seconds; None as above."""
