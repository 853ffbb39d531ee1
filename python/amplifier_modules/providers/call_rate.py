"""How many calls a provider makes in a span of time; it waits where there would be more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from .config_values import ConfigValues

if TYPE_CHECKING:
    from amplifier_guard import RateLimiter

_MOST_CALLS = 1_000_000
_LONGEST_PERIOD = 31_536_000.0


@dataclass(frozen=True)
class CallRate:
    """The key `rate` of a provider's config, of the form of `amplifier_guard.Rate`."""

    limit: int
    """Calls in each period."""
    period: float = 60.0
    """Seconds."""
    burst: int | None = None
    """Calls at once after a rest; None for as many as in a period."""

    @classmethod
    def read(cls, values: ConfigValues) -> CallRate | None:
        """Take the rate out of a provider's config, None where there is none.

        Raises:
            ConfigurationError: It has the wrong form or cannot work.
        """
        given: Any = values.given.get("rate")
        if given is None:
            return None
        if not isinstance(given, Mapping):
            found = type(given).__name__
            raise values.wrong(f"`rate` must be a mapping with `limit`, found {found}")
        inner = values.inside("rate", cast("Mapping[str, Any]", given))
        known = [item.name for item in fields(cls)]
        if unknown := [key for key in inner.given if key not in known]:
            raise values.wrong(f"`rate.{unknown[0]}` is unknown (known: {', '.join(known)})")
        if "limit" not in inner.given:
            raise values.wrong("`rate.limit` is missing, the calls in each period")
        return cls(
            limit=inner.integer("limit", 1, 1, _MOST_CALLS),
            period=inner.number("period", cls.period, 0.001, _LONGEST_PERIOD),
            burst=inner.integer("burst", 1, 1, _MOST_CALLS) if "burst" in inner.given else None,
        )

    def limiter(self, clock: Any) -> RateLimiter:
        """Make the limiter that counts by a clock of nanoseconds."""
        from amplifier_guard import Rate, RateLimiter

        return RateLimiter(provider=Rate(self.limit, self.period, self.burst), clock=clock)
