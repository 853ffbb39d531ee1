"""Why a call was not made: its budget is used up, or the file of the budget cannot be used."""

from __future__ import annotations

from decimal import Decimal

from amplifier_providers.prices.allowance import NoRoomError

from ...exceptions import ArcLLMError
from ...types import LLMResponse


class ArcLLMBudgetError(ArcLLMError, NoRoomError):
    """A call could cost more than a budget has left, or nobody knows what it costs.

    Args:
        message: What is used up, and what can be done.
        scope: Whose budget it is: `all`, `agent:NAME` or `provider:NAME`.
        period: The day (`2026-11-23`) or the month (`2026-11`) by UTC; empty if a price is unknown.
        limit_usd: The limit; None if a price is unknown.
        used_usd: What was spent and is reserved for calls under way.
        needed_usd: What the call may cost.
    """

    def __init__(
        self,
        message: str,
        scope: str,
        period: str,
        limit_usd: Decimal | None,
        used_usd: Decimal,
        needed_usd: Decimal,
    ) -> None:
        super().__init__(message, scope, period, limit_usd, used_usd, needed_usd)
        self.message = message
        self.scope = scope
        self.period = period
        self.limit_usd = limit_usd
        self.used_usd = used_usd
        self.needed_usd = needed_usd

    def __str__(self) -> str:
        """Return the message."""
        return self.message


class ArcLLMBudgetFileError(ArcLLMError):
    """The file of the budget cannot be used, so that no call is made.

    Its message says which file, what is wrong with it, and what can be done.
    """

    response: LLMResponse | None = None
    """The answer whose cost could not be written down; None if the call was not made."""
