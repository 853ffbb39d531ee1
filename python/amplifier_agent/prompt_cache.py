"""What the caches of services made of the beginnings of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from amplifier_providers.prices.amounts import read_count, read_dollars


@dataclass(frozen=True, kw_only=True)
class PromptCacheUse:
    """The beginnings of the requests of a turn, without those of its sub-agents."""

    prefix_changes: int = 0
    """Requests that did not begin with all of the one before."""
    paid_again: int = 0
    """Tokens that the request before had, too, and that came from no cache."""
    paid_again_cost: Decimal | None = Decimal(0)
    """US dollars of them, as input; None if a price is not known."""
    predicted: int = 0
    """Tokens from the cache by the published rule, where the counts before say how many."""
    predicted_read: int = 0
    """Tokens from the cache of the same calls, as the services report them."""
    predicted_calls: int = 0
    """The calls with a prediction."""

    def __add__(self, other: PromptCacheUse) -> PromptCacheUse:
        """Return the sum."""
        one, two = self.paid_again_cost, other.paid_again_cost
        return PromptCacheUse(
            prefix_changes=self.prefix_changes + other.prefix_changes,
            paid_again=self.paid_again + other.paid_again,
            paid_again_cost=None if one is None or two is None else one + two,
            predicted=self.predicted + other.predicted,
            predicted_read=self.predicted_read + other.predicted_read,
            predicted_calls=self.predicted_calls + other.predicted_calls,
        )


NO_USE = PromptCacheUse()
"""Of a turn without a request."""
ONE_CHANGE = PromptCacheUse(prefix_changes=1)
"""A request that did not begin with the one before."""


def use_of(data: Mapping[str, Any]) -> PromptCacheUse | None:
    """Return what `llm:response` says of a call; None if it says nothing of its cache."""
    predicted = read_count(data.get("predicted_cache_read_tokens"))
    paid_again = read_count(data.get("paid_again_tokens"))
    if predicted is None and paid_again is None:
        return None
    usage: Any = data.get("usage")
    read = read_count(usage.get("cache_read_tokens")) if type(usage) is dict else None  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- of any event
    return PromptCacheUse(
        paid_again=paid_again or 0,
        paid_again_cost=read_dollars(data.get("paid_again_usd")) if paid_again else Decimal(0),
        predicted=predicted or 0,
        predicted_read=0 if predicted is None else read or 0,
        predicted_calls=0 if predicted is None else 1,
    )
