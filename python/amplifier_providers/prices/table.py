"""The prices of known services: the data of the installed `genai-prices`, read without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from ..services import SERVICES
from .rates import Rates, count_parts

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

_NAMES = {each.name: each.prices for each in SERVICES.values() if each.prices}
"""The names of our services in the table."""

_MILLION, _THOUSAND = 1_000_000, 1_000


class Source(NamedTuple):
    """Whose prices are looked up."""

    service: str
    """The name of the service."""
    address: str = ""
    """Where it is, as far as that is known: it may be another service that speaks the same."""


def table_rates(
    source: Source, model: str, conditions: Mapping[str, str], now: float
) -> Rates | None:
    """Return the rates of a model; None if they are not known.

    The table is imported at the first call, which takes about 50 ms.

    Args:
        source: Who is asked.
        model: The model.
        conditions: What else a price depends on, such as the service tier, by its name.
        now: The time of the call, in seconds since the epoch: some prices begin on a day, and a few
            change with the hour.
    """
    info, is_own = _model_info(source, model)
    if info is None:
        return None
    # A tier of another service's list would not be that of this one.
    context = dict(conditions) if is_own and conditions else None
    return _make_rates(info.get_prices(datetime.fromtimestamp(now, UTC), context))


def _model_info(source: Source, model: str) -> tuple[ModelInfo | None, bool]:
    """Return a model of the table, and whether the service itself lists it.

    The address says whose prices they are; one that the table does not know, such as that of a
    gateway, says nothing, and the name of the service does.
    """
    # The package would load its prices anew from the network only if it was asked to.
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    try:
        owner = snapshot.find_provider(None, None, source.address)
    except LookupError:
        name = _NAMES.get(source.service)
        if name is None:
            return None, False
        owner = snapshot.find_provider(None, name, None)
    try:
        _, info = snapshot.find_provider_model(model, owner, None, None)
    except LookupError:
        return None, False
    return info, any(info is each for each in owner.models)


def _make_rates(prices: ModelPrice) -> Rates | None:
    """Return the rates of a price; None where it is for no tokens."""
    if prices.input_mtok is None and prices.output_mtok is None:
        return None
    limits = {tier.start for value in vars(prices).values() for tier in getattr(value, "tiers", ())}
    usual = _rates_of_length(prices, 0)
    longer = tuple(
        (limit, _rates_of_length(prices, limit + 1)) for limit in sorted(limits, reverse=True)
    )
    return replace(usual, beyond=longer) if longer else usual


def _rates_of_length(prices: ModelPrice, length: int) -> Rates:
    """Return the rates of a request with so many tokens; a kind without a price has its parent's."""

    def find_price(name: str, fallback: Decimal) -> Decimal:
        value = getattr(prices, name)
        if value is None:
            return fallback
        if isinstance(value, Decimal):
            return value
        return next(
            (tier.price for tier in reversed(value.tiers) if length > tier.start), value.base
        )

    nothing = Decimal(0)
    entered, written = find_price("input_mtok", nothing), find_price("output_mtok", nothing)
    to_cache = find_price("cache_write_mtok", entered)
    return Rates(
        input=count_parts(entered, _MILLION),
        cache_read=count_parts(find_price("cache_read_mtok", entered), _MILLION),
        cache_write=count_parts(find_price("cache_write_5m_mtok", to_cache), _MILLION),
        cache_write_1h=count_parts(find_price("cache_write_1h_mtok", to_cache), _MILLION),
        output=count_parts(written, _MILLION),
        reasoning=count_parts(find_price("output_reasoning_mtok", written), _MILLION),
        web_search=count_parts(find_price("web_searches_kcount", nothing), _THOUSAND),
        request=count_parts(find_price("requests_kcount", nothing), _THOUSAND),
    )
