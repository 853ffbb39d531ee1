"""What a budget is set to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from amplifier_providers.prices.settings import Dollars, ModelPrices
from amplifier_providers.settings import Settings


class BudgetLimits(Settings):
    """What may be spent in a day and in a month."""

    monthly_limit_usd: Dollars | None = None
    """US dollars in a month by UTC; none for no limit."""
    daily_limit_usd: Dollars | None = None
    """US dollars in a day by UTC; none for no limit."""


class BudgetSettings(Settings):
    """What calls may cost."""

    none_is_absent = False  # None is no limit

    monthly_limit_usd: Dollars | None = Field(default=500, validate_default=True)
    """US dollars in a month by UTC, for all calls that use the file; none for no limit."""
    daily_limit_usd: Dollars | None = None
    """The same for a day."""
    agent: str | None = Field(default=None, min_length=1, max_length=100)
    """For whom the calls are made that do not say so by their `agent`; what each agent spends is
    counted."""
    agents: dict[str, BudgetLimits] = Field(default_factory=dict[str, BudgetLimits])
    """The limits of single agents, by name."""
    providers: dict[str, BudgetLimits] = Field(default_factory=dict[str, BudgetLimits])
    """The limits of single providers, by name."""
    warn_percent: int = Field(default=80, ge=1, le=100)
    """At which part of a limit there is a warning, once in each period."""
    unknown_price: Literal["allow", "block"] = "allow"
    """What becomes of a call whose price is not known: it is made and noted, or not made."""
    prices: dict[str, ModelPrices] = Field(default_factory=dict[str, ModelPrices])
    """Prices of models that go before those known, by the beginning of their names."""
    output_tokens: int = Field(default=4096, ge=1)
    """Tokens of the answer that are reserved for a call without `max_tokens`, of a provider that does
    not say what it sends."""
    path: Annotated[Path, Field(strict=False)] | None = None
    """The SQLite file; without it, `arcllm/budget.sqlite3` in the user's folder for state, which is
    `$XDG_STATE_HOME` or `~/.local/state` on Linux."""
    lease_seconds: int = Field(default=3600, ge=1)
    """How long a reservation holds whose process ended without settling it; longer than any call."""
    busy_seconds: float = Field(default=10, gt=0, le=600)
    """How long to wait for other processes that use the file."""


def default_path() -> Path:
    """Return where the file is if the settings do not say: in the user's folder for state."""
    from platformdirs import user_state_path

    return user_state_path("arcllm", appauthor=False) / "budget.sqlite3"
