"""To whom a call is charged, in which day and month, and which limits hold for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache

from .settings import BudgetSettings

_MILLION = Decimal(1_000_000)
_DAY_SECONDS = 86_400
MOST_MICROS = 10**15
"""The most that a call is charged, whatever a service counts: the sums of the file stay whole numbers."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be spent in one period."""

    scope: str
    """`all`, `agent:NAME` or `provider:NAME`."""
    period: str
    """A day or a month."""
    micros: int
    """Millionths of a US dollar."""


@dataclass(frozen=True, slots=True)
class Account:
    """To whom a call is charged, and when it was asked for."""

    agent: str | None
    provider: str
    day: str
    month: str

    @classmethod
    def at(cls, now: float, agent: str | None, provider: str) -> Account:
        """Return the account of a call.

        Args:
            now: The time of the call, in seconds since the epoch.
            agent: For whom it is made.
            provider: Who is asked.
        """
        return _account(agent, provider, int(now // _DAY_SECONDS))

    @property
    def scopes(self) -> list[str]:
        """The scopes in which the call counts."""
        scopes = ["all", f"provider:{self.provider}"]
        return scopes if self.agent is None else [*scopes, f"agent:{self.agent}"]

    def list_limits(self, settings: BudgetSettings) -> list[Limit]:
        """Return the limits that hold for the call."""
        return list(self._list_limits(settings))

    def _list_limits(self, settings: BudgetSettings) -> Iterator[Limit]:
        of_agent = settings.agents.get(self.agent) if self.agent is not None else None
        limits = (settings, settings.providers.get(self.provider), of_agent)
        for scope, each in zip(self.scopes, limits, strict=False):
            for period, dollars in (
                (self.month, each and each.monthly_limit_usd),
                (self.day, each and each.daily_limit_usd),
            ):
                if dollars is not None:
                    yield Limit(scope, period, int(_round_micros(dollars, ROUND_FLOOR)))


@lru_cache(maxsize=64)
def _account(agent: str | None, provider: str, day_number: int) -> Account:
    day = datetime.fromtimestamp(day_number * _DAY_SECONDS, UTC).strftime("%Y-%m-%d")
    return Account(agent, provider, day, day[:7])


def micros_of(dollars: Decimal) -> int:
    """Return a cost in millionths of a US dollar, the last one begun counted; at most `MOST_MICROS`."""
    return min(int(_round_micros(dollars, ROUND_CEILING)), MOST_MICROS)


def dollars_of(micros: int) -> Decimal:
    """Return an amount in US dollars."""
    return Decimal(micros).scaleb(-6)


def write_dollars(micros: int) -> str:
    """Write an amount in US dollars."""
    return f"{micros // 1_000_000}.{micros % 1_000_000:06}"


def _round_micros(dollars: Decimal, rounding: str) -> Decimal:
    return (dollars * _MILLION).to_integral_value(rounding)
