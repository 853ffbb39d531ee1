"""The most that a request may use, and how long an answer may be that is still paid for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from .amounts import Estimate

MIN_ANSWER_TOKENS = 256
"""The shortest answer that is worth a request; an answer limited to less keeps its own limit."""


@dataclass(frozen=True)
class CallBound:
    """The most that a request may use."""

    input_tokens: int
    """Tokens that the model reads at most."""
    output_tokens: int
    """Tokens that it writes at most."""
    price: Callable[[int, int], Decimal | None]
    """Returns the US dollars of so many tokens read and written; None where that is not known."""
    terms: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its price depends on besides, as `Pricing.most_cost` takes it."""

    @property
    def shortest_answer(self) -> int:
        """The tokens below which the request is not worth sending."""
        return min(MIN_ANSWER_TOKENS, self.output_tokens)

    def estimate(self, output_tokens: int) -> Estimate:
        """Return what is held back for the request with an answer of at most so many tokens."""
        cost = self.price(self.input_tokens, output_tokens)
        tokens = self.input_tokens + output_tokens
        return Estimate(tokens, cost or Decimal(0), output_tokens, is_priced=cost is not None)

    def longest_answer(self, tokens: int | None, dollars: Decimal | None) -> int:
        """Return the tokens of the longest answer that can be paid for; -1 if there is none.

        Args:
            tokens: The tokens that are left; None for no limit.
            dollars: The US dollars that are left; None for no limit.
        """
        most = self.output_tokens
        if tokens is not None:
            most = min(most, tokens - self.input_tokens)
        if dollars is None or most < 0 or self._costs_at_most(dollars, most):
            return max(most, -1)
        longest, too_long = -1, most
        while too_long - longest > 1:
            middle = (longest + too_long) // 2
            if self._costs_at_most(dollars, middle):
                longest = middle
            else:
                too_long = middle
        return longest

    def _costs_at_most(self, dollars: Decimal, output_tokens: int) -> bool:
        cost = self.price(self.input_tokens, output_tokens)
        return cost is None or cost <= dollars
