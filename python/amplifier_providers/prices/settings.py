"""Prices that a user sets, which go before all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ..settings import Settings
from ..value_problems import Form
from .rates import DIGITS, Rates, count_parts

_MILLION = 1_000_000
EVERY_MODEL = "*"
"""The key of the prices of all models that have none of their own."""


def _read_dollars(value: Any) -> Any:
    """Read a price; a float is what it says, not what it is in binary."""
    is_price = isinstance(value, int | float | str | Decimal) and not isinstance(value, bool)
    try:
        price = Decimal(str(value).strip() if is_price else "")
    except InvalidOperation:
        raise ValueError from None
    if not price.is_finite() or not 0 <= price < _MILLION:
        raise ValueError
    if price != round(price, DIGITS):
        raise ValueError
    return price


Dollars = Annotated[
    Decimal,
    BeforeValidator(_read_dollars),
    Form(f"US dollars from 0 to below 1,000,000, with at most {DIGITS} decimals"),
]


class LongContextPrices(Settings):
    """The prices of all tokens of a request that is longer; what is absent stays as it is."""

    above: int = Field(ge=1)
    """Tokens of a request, cached ones included, beyond which these prices hold."""
    input: Dollars | None = None
    """US dollars for a million tokens that the model reads."""
    output: Dollars | None = None
    """The same for tokens that it writes, reasoning included."""
    cache_read: Dollars | None = None
    """The same for tokens from the cache."""
    cache_write: Dollars | None = None
    """The same for tokens written to the cache."""
    cache_write_1h: Dollars | None = None
    """The same for tokens kept in the cache for an hour."""


class ModelPrices(Settings):
    """What a model costs."""

    input: Dollars
    """US dollars for a million tokens that the model reads."""
    output: Dollars
    """The same for tokens that it writes, reasoning included."""
    cache_read: Dollars | None = None
    """The same for tokens from the cache; as `input` if not set."""
    cache_write: Dollars | None = None
    """The same for tokens written to the cache; as `input` if not set."""
    cache_write_1h: Dollars | None = None
    """The same for tokens kept in the cache for an hour; as `cache_write` if not set."""
    web_search: Dollars | None = None
    """US dollars for a thousand searches of the service; 0 if not set."""
    long_context: LongContextPrices | None = None
    """Other prices for long requests."""

    def make_rates(self) -> Rates:
        """Return the same for one token."""
        return _make_rates(self)  # pyright: ignore[reportArgumentType] -- frozen, and so hashable


@lru_cache(maxsize=256)
def _make_rates(prices: ModelPrices) -> Rates:
    """Return the rates of a model, which each session asks for."""
    usual = _compute_rates(prices, prices.input, prices.output, None)
    if prices.long_context is None:
        return usual
    longer = prices.long_context
    other = _compute_rates(
        prices,
        prices.input if longer.input is None else longer.input,
        prices.output if longer.output is None else longer.output,
        longer,
    )
    return replace(usual, beyond=((longer.above, other),))


def _compute_rates(
    usual: ModelPrices, entered: Decimal, written: Decimal, longer: LongContextPrices | None
) -> Rates:
    def find_price(name: str, fallback: Decimal) -> Decimal:
        for prices in (longer, usual):
            found = getattr(prices, name, None)
            if found is not None:
                return found
        return fallback

    to_cache = find_price("cache_write", entered)
    return Rates(
        input=count_parts(entered, _MILLION),
        cache_read=count_parts(find_price("cache_read", entered), _MILLION),
        cache_write=count_parts(to_cache, _MILLION),
        cache_write_1h=count_parts(find_price("cache_write_1h", to_cache), _MILLION),
        output=count_parts(written, _MILLION),
        reasoning=count_parts(written, _MILLION),
        web_search=count_parts(usual.web_search or Decimal(0), 1_000),
    )


def prices_of(prices: Mapping[str, ModelPrices], model: str) -> ModelPrices | None:
    """Return the prices of a model: those of its name, or of the longest beginning of it."""
    name = model.lower()
    fitting = [key for key in prices if key != EVERY_MODEL and name.startswith(key.lower())]
    if fitting:
        return prices[max(fitting, key=len)]
    return prices.get(EVERY_MODEL)
