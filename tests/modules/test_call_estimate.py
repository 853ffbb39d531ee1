"""What is held back for a model call before it is made."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_modules.spending.budget import Budget
from amplifier_modules.spending.call_estimate import estimate_of
from amplifier_modules.spending.ledger import Ledger
from amplifier_modules.spending.reservation import Reservation
from amplifier_providers.prices.amounts import Estimate
from amplifier_providers.prices.pricing import Pricing
from amplifier_providers.prices.settings import ModelPrices

REQUEST = ChatRequest(
    messages=[Message(role="user", content="x" * 400)],
    tools=[ToolSpec(name="look", parameters={"description": "y" * 4000})],
)


class Priced:
    def __init__(self, cost: Any) -> None:
        self.cost = cost

    def input_cost(self, tokens: int) -> Any:
        if isinstance(self.cost, Exception):
            raise self.cost
        return self.cost


def test_messages_and_tools_are_estimated_where_a_limit_needs_it() -> None:
    nothing = estimate_of(REQUEST, None, Ledger(Budget(model_calls=3)))
    assert nothing == Estimate()
    around = Ledger(Budget(tokens=5))
    tokens = estimate_of(REQUEST, None, Ledger(Budget(), around)).tokens
    assert 1_100 < tokens < 1_200
    cost = estimate_of(REQUEST, Priced(Decimal("0.5")), Ledger(Budget(cost=1)))
    assert cost == Estimate(tokens, Decimal("0.5"))


@pytest.mark.parametrize("said", [None, "1", 0.5, Decimal("NaN"), Decimal(-1), ValueError("no")])
def test_a_price_that_cannot_be_used_is_not_held_back(said: Any) -> None:
    assert estimate_of(REQUEST, Priced(said), Ledger(Budget(cost=1))).cost == 0


def test_what_a_request_costs_is_known_from_the_prices() -> None:
    prices = {"m": ModelPrices(input=3, output=15)}
    assert Pricing("nobody", prices=prices).input_cost(1_000_000, ("m",)) == 3
    assert Pricing("nobody").input_cost(1_000_000, ("m",)) is None


@pytest.mark.parametrize(
    ("error", "calls", "tokens"), [(None, 0, 0), (ValueError, 0, 0), (KeyboardInterrupt, 1, 7)]
)
def test_a_call_that_fails_is_not_counted_and_one_that_is_cancelled_as_estimated(
    error: type[BaseException] | None, calls: int, tokens: int
) -> None:
    ledger = Ledger(Budget())
    reservation = ledger.reserve(Estimate(7))
    assert isinstance(reservation, Reservation)
    try:
        with reservation:
            if error is not None:
                raise error
    except (ValueError, KeyboardInterrupt):
        pass
    assert (ledger.model_calls, ledger.tokens) == (calls, tokens)
