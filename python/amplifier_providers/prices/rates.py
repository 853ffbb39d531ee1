"""What a model costs, in whole parts of a dollar, so that each sum is exact."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal

from .counts import Counts

DIGITS = 9
"""Digits after the point of a price for a million tokens; further ones are noise of binary numbers."""

_SCALE = DIGITS + 6
_DOLLAR = 10**_SCALE
_TEN_DOLLARS = 10 * _DOLLAR
_PART = Decimal((0, (1,), -_SCALE))
_EXACT = Context(prec=100)
"""The context of the program might round."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The price of one token of each kind, or of one search, in parts of a dollar."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    web_search: int = 0
    request: int = 0
    """The price of the call itself."""
    beyond: tuple[tuple[int, Rates], ...] = ()
    """Each number of tokens beyond which all tokens have other rates, the largest first."""

    def compute_cost(self, counts: Counts) -> Decimal:
        """Return the dollars of one call."""
        fresh, read, written, hour, output, reasoning, searches = counts
        rates = self
        if self.beyond:
            entered = fresh + read + written + hour
            for limit, other in self.beyond:
                if entered > limit:
                    rates = other
                    break
        used = (
            rates.request
            + fresh * rates.input
            + read * rates.cache_read
            + written * rates.cache_write
            + output * rates.output
        )
        if hour or reasoning or searches:  # mostly they are 0
            used += hour * rates.cache_write_1h + reasoning * rates.reasoning
            used += searches * rates.web_search
        return make_dollars(used)

    def bound_cost(
        self, read: int, written: int, *, searches: int = 0, keeps_hour: bool = False
    ) -> Decimal:
        """Return the most dollars of a call with so many tokens.

        Args:
            read: Tokens of the request, whatever caches do with them.
            written: Tokens of the answer, reasoning included.
            searches: Searches that the service does by itself.
            keeps_hour: Whether the request asks for a cache that lasts an hour.
        """
        applicable = [self, *(rates for limit, rates in self.beyond if read > limit)]
        return make_dollars(
            max(
                rates.request
                + read
                * max(
                    rates.input,
                    rates.cache_read,
                    rates.cache_write,
                    rates.cache_write_1h if keeps_hour else 0,
                )
                + written * max(rates.output, rates.reasoning)
                + searches * rates.web_search
                for rates in applicable
            )
        )


FREE = Rates()
"""The rates of a model that costs nothing."""


def count_parts(price: Decimal, count: int) -> int:
    """Return the parts of a dollar that one costs, where `count` cost this price."""
    return int(
        _EXACT.to_integral_value(
            _EXACT.divide(_EXACT.multiply(price, Decimal(_DOLLAR)), Decimal(count))
        )
    )


def make_dollars(sum_of_parts: int) -> Decimal:
    """Return a sum of parts as dollars, without zeros at its end."""
    if sum_of_parts >= _TEN_DOLLARS and sum_of_parts % _DOLLAR == 0:
        return Decimal(sum_of_parts // _DOLLAR)  # and not 1E+1
    return _EXACT.normalize(_EXACT.multiply(sum_of_parts, _PART))
