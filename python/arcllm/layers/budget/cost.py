"""What a call may cost, and what it did cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from amplifier_providers.prices.amounts import read_count, read_dollars
from amplifier_providers.prices.call_bound import CallBound
from amplifier_providers.prices.pricing import Pricing
from amplifier_providers.prices.settings import prices_of
from amplifier_providers.requests.token_estimate import CHARACTERS_PER_TOKEN, estimate_tokens

from ...step import Call
from ...types import LLMResponse
from .account import micros_of
from .settings import BudgetSettings


class Costs:
    """The costs of calls, in millionths of a US dollar, by the prices of the providers.

    Args:
        settings: Prices that go before those known, and how long an answer may be.
        now: Returns the current time, in seconds since the epoch: prices change.
    """

    def __init__(self, settings: BudgetSettings, now: Callable[[], float]) -> None:
        self._settings = settings
        self._now = now
        self._pricings: dict[str, Pricing] = {}

    def bound_cost(self, call: Call, provider: str, model: str) -> int | None:
        """Return what a call with the longest answer would cost; None if its price is not known."""
        if not self._find_pricing(provider).can_price((model,)):
            return None
        asked = call.options.get("max_tokens")
        most = asked if isinstance(asked, int) and asked > 0 else self._settings.output_tokens
        return self.price_tokens(provider, model, _input_tokens(call), most)

    def cost_of_broken_call(self, call: Call, provider: str, model: str, written: int) -> int:
        """Return what a call cost that was broken off after so many tokens; 0 if not known."""
        return self.price_tokens(provider, model, _input_tokens(call), written)

    def price_tokens(self, provider: str, model: str, read: int, written: int) -> int:
        """Return what so many tokens cost; 0 where no price is known."""
        counts = {"input_tokens": read, "output_tokens": written}
        return micros_of(
            self._find_pricing(provider).add_cost(counts, None, (model,)) or Decimal(0)
        )

    def price_bound(self, bound: CallBound, provider: str, model: str) -> CallBound:
        """Return the bound of a request with the prices that hold here."""
        own, pricing = self._has_own(model), self._find_pricing(provider)

        def price_call(read: int, written: int) -> Decimal | None:
            cost = None if own else bound.price(read, written)
            return (
                pricing.most_cost(read, written, (model,), **bound.terms) if cost is None else cost
            )

        return replace(bound, price=price_call)

    def own_cost(
        self, counts: Mapping[str, int | None], provider: str, model: str
    ) -> Decimal | None:
        """Return what a request cost by the prices of the settings; None if they have none."""
        return (
            self._find_pricing(provider).add_cost(counts, None, (model,))
            if self._has_own(model)
            else None
        )

    def answer(self, response: LLMResponse, provider: str, model: str) -> int | None:
        """Return what an answer of a provider cost; None if that is not known."""
        reported: Any = response.metadata.get("cost_usd")
        if (dollars := read_dollars(reported)) is not None:
            return micros_of(dollars)
        if "unreported" in response.metadata or reported is not None:
            return None
        usage = response.usage
        entered, produced = read_count(usage.input_tokens), read_count(usage.output_tokens)
        parts = (usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens)
        known = [read_count(count or 0) for count in parts]
        if entered is None or produced is None or None in known:
            return None
        read, written, reasoning = (count or 0 for count in known)
        counts = {
            "input_tokens": max(entered - read - written, 0),
            "cache_read_tokens": read,
            "cache_write_tokens": written,
            "output_tokens": max(produced - reasoning, 0),
            "reasoning_tokens": reasoning,
        }
        cost = self._find_pricing(provider).add_cost(counts, None, (response.model, model))
        return None if cost is None else micros_of(cost)

    def _has_own(self, model: str) -> bool:
        return prices_of(self._settings.prices, model) is not None

    def _find_pricing(self, provider: str) -> Pricing:
        pricing = self._pricings.get(provider)
        if pricing is None:
            # The services of the kernel have hyphens in their names.
            service = provider.replace("_", "-")
            pricing = Pricing(service, prices=self._settings.prices, now=self._now)
            self._pricings[provider] = pricing
        return pricing


def _input_tokens(call: Call) -> int:
    """Return the estimated tokens of all that is sent."""
    tokens = characters = 0
    for message in call.messages:
        content: Any = message.content
        if not isinstance(content, str):
            content = [block.model_dump() for block in content]
        tokens += estimate_tokens({"content": content})
        if message.opaque:
            characters += len(str(message.opaque))
    characters += sum(len(tool.model_dump_json()) for tool in call.tools or ())
    return tokens + characters // CHARACTERS_PER_TOKEN
