"""What the calls of one provider cost, one by one and all together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from decimal import Decimal
from operator import index
from typing import Any, TypeVar

from amplifier_core import world
from amplifier_core.error_messages import short_repr

from ..services import OWN_SERVERS
from .amounts import read_count
from .counts import Counts, charged_dollars, counts_of
from .rates import FREE, Rates
from .settings import ModelPrices, prices_of
from .table import Source, table_rates

logger = logging.getLogger(__name__)

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

_TELLING = frozenset({"openrouter"})
"""Services that say with each answer what they charged."""
_SECONDS = 60
"""How long rates are kept: some change with the hour."""
_MOST_NAMES = 1_000
"""Names of models come from servers, which may invent one for each answer."""

_looked_up: dict[tuple[Any, ...], Rates | None] = {}
"""The rates of the last minutes: each session asks for them."""
_logged: set[str] = set()
"""What this process has logged: many sessions may ask the same model."""


class Pricing:
    """The prices of one provider, and what was paid so far.

    Prices of the settings go first. Then what the service says that it charged; nothing for a
    server of the user's own; and the table.

    Args:
        service: The name of the service.
        address: Where it is.
        prices: The prices of the settings, by model.
        now: Returns the current time, in seconds since the epoch.
    """

    def __init__(
        self,
        service: str,
        address: str = "",
        prices: Mapping[str, ModelPrices] | None = None,
        *,
        now: Callable[[], float] = world.time,
    ) -> None:
        self._service = service
        self._source = Source(service, address)
        self._prices = dict(prices or {})
        self._own: dict[tuple[str, ...], Rates | None] = {}
        self._is_free = service in OWN_SERVERS
        self._now = now
        self._kept = _looked_up
        self._unknown: tuple[str, ...] = ()
        self._notices: list[str] = []
        self.total = Decimal(0)
        """The dollars of all calls whose price is known."""
        self.calls = 0
        """The calls that were counted."""
        self.unpriced_calls = 0
        """Those of them whose price is not known."""

    def add_cost(
        self,
        buckets: Mapping[str, int | None],
        raw: dict[str, Any] | None,
        models: tuple[str, ...],
        details: Mapping[str, Any] | None = None,
        *,
        is_whole: bool = True,
    ) -> Decimal | None:
        """Return what one answer cost, and add it to the total; None if that is not known.

        Args:
            buckets: Its tokens, in the decoder's disjoint buckets.
            raw: Its usage as the service counts it.
            models: The names of the model, the best known first.
            details: What else the service reported of the answer.
            is_whole: Whether the answer came to its end: then it has no cost unless the service
                counted both the request and the answer.
        """
        self.calls += 1
        cost = self._compute_cost(buckets, raw, models, details, is_whole)
        if cost is None:
            self.unpriced_calls += 1
        else:
            self.total += cost
        return cost

    def can_price(self, models: tuple[str, ...]) -> bool:
        """Whether the cost of calls of a model will be known, if their tokens are."""
        if self._service in _TELLING or self._own_rates(models) is not None:
            return True
        return self._find_rates(models, None, None) is not None

    def input_cost(self, tokens: int, models: tuple[str, ...]) -> Decimal | None:
        """Return what so many tokens of a request cost that no cache knows; None if not known."""
        rates = self._own_rates(models) or self._find_rates(models, None, None)
        return None if rates is None else rates.compute_cost(Counts(input=index(tokens)))

    def most_cost(
        self,
        read: int,
        written: int,
        models: tuple[str, ...],
        *,
        tier: str | None = None,
        speed: str | None = None,
        searches: int = 0,
        keeps_hour: bool = False,
    ) -> Decimal | None:
        """Return the most dollars of a call with so many tokens; None if no price is known."""
        rates = self._own_rates(models) or self._find_rates(models, tier, speed)
        if rates is None:
            return None
        return rates.bound_cost(
            index(read), index(written), searches=searches, keeps_hour=keeps_hour
        )

    def take_notices(self) -> list[str]:
        """Return what a user has to know of the prices, each once."""
        notices, self._notices = self._notices, []
        return notices

    def describe_cost(self) -> dict[str, Any]:
        """Return what the provider has cost so far, for the channel `session.cost`."""
        return {
            "provider": self._service,
            "cost_usd": str(self.total),
            "model_calls": self.calls,
            "unpriced_calls": self.unpriced_calls,
        }

    def _compute_cost(
        self,
        buckets: Mapping[str, int | None],
        raw: dict[str, Any] | None,
        models: tuple[str, ...],
        details: Mapping[str, Any] | None,
        is_whole: bool,
    ) -> Decimal | None:
        rates = self._own_rates(models) if self._prices else None
        if rates is None:
            if (charged := charged_dollars(raw)) is not None:
                return charged
            tier = details.get("service_tier") if details else None
            speed = raw.get("speed") if raw else None
            rates = self._find_rates(
                models,
                tier if tier is None or isinstance(tier, str) else None,
                speed if speed is None or isinstance(speed, str) else None,
            )
        if rates is FREE:
            return Decimal(0)
        entered = read_count(buckets.get("input_tokens"))
        produced = read_count(buckets.get("output_tokens"))
        missing = (entered is None) + (produced is None)
        if missing == 2 or (missing and is_whole):
            # What is not counted is not free.
            return None
        if rates is None:
            self._note_unknown(models[-1])
            return None
        return rates.compute_cost(counts_of(buckets, raw))

    def _own_rates(self, models: tuple[str, ...]) -> Rates | None:
        """Return the rates that the settings have for a model."""
        try:
            return self._own[models]
        except KeyError:
            found = (prices_of(self._prices, model) for model in models)
            prices = next((each for each in found if each is not None), None)
            rates = None if prices is None else prices.make_rates()
        return _keep(self._own, models, rates)

    def _find_rates(
        self, models: tuple[str, ...], tier: str | None, speed: str | None
    ) -> Rates | None:
        """Return the rates that need no settings."""
        if self._is_free:
            return FREE
        now = self._now()
        key = (self._source, models, tier, speed, now // _SECONDS)
        try:
            return self._kept[key]
        except KeyError:
            pass
        given = {"service_tier": tier, "speed": speed}
        conditions = {name: value for name, value in given.items() if value is not None}
        looked_up = (table_rates(self._source, model, conditions, now) for model in models)
        return _keep(self._kept, key, next((each for each in looked_up if each is not None), None))

    def _note_unknown(self, model: str) -> None:
        """Keep for the session that a model has no price, and log it once in this process."""
        if model in self._unknown or len(self._unknown) >= _MOST_NAMES:
            return
        self._unknown += (model,)
        text = (
            f"no price is known for `{short_repr(model)[1:-1]}` of `{self._service}`, so its calls are"
            " not part of the cost; set `prices` of the provider"
        )
        self._notices.append(text)
        if text not in _logged and len(_logged) < _MOST_NAMES:
            _logged.add(text)
            logger.warning("%s", text)


def _keep(kept: dict[KeyT, ValueT], key: KeyT, value: ValueT) -> ValueT:
    if len(kept) >= _MOST_NAMES:
        kept.clear()
    kept[key] = value
    return value
