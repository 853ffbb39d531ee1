"""What is held back for the requests of many children at once is never less than what they use."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import ChatRequest, Message
from amplifier_modules.spending.budget import Budget
from amplifier_modules.spending.ledger import Ledger
from amplifier_modules.spending.reservation import Reservation
from amplifier_providers.prices.allowance import NoRoomError
from amplifier_providers.prices.call_bound import MIN_ANSWER_TOKENS, CallBound
from amplifier_providers.prices.counts import Counts
from amplifier_providers.prices.input_bound import InputCounts
from amplifier_providers.prices.pricing import Pricing
from amplifier_providers.prices.rates import Rates, count_parts, make_dollars
from amplifier_providers.prices.request_bound import limit_answer, request_bound
from amplifier_providers.prices.settings import ModelPrices

PRICES = st.sampled_from([0, 1, 5, 25, 75]).map(
    lambda price: count_parts(Decimal(price), 1_000_000)
)
RATES = st.builds(Rates, input=PRICES, cache_write=PRICES, output=PRICES)
BOUNDS = st.tuples(st.integers(1, 5_000), st.integers(1, 16_000))
SHARES = st.sampled_from([Decimal(0), Decimal("0.1"), Decimal(1)])
CHILDREN = st.lists(
    st.tuples(BOUNDS, SHARES, SHARES, st.booleans(), st.integers(0, 3)), min_size=1, max_size=20
)
"""What each request and its answer may be, the part of both that is used, whether the service counts
it, and how many calls end before the next begins."""


def price_of(rates: Rates) -> Any:
    return lambda read, written: rates.bound_cost(read, written)


# Holds: agent-37, agent-38
@given(st.none() | st.integers(1, 50_000), st.decimals("0.01", 1, places=2), RATES, CHILDREN)
def test_many_children_at_once_never_pass_the_limits_of_their_turn(
    tokens: int | None, cost: Decimal, rates: Rates, children: list[Any]
) -> None:
    price = price_of(rates)
    turn = Ledger(Budget(model_calls=None, tokens=tokens, cost=cost))
    under_way: deque[tuple[Reservation, int, int, bool]] = deque()
    for (read, longest), read_share, written_share, is_known, ends in children:
        call = Ledger(Budget(model_calls=None), turn).reserve()
        if not isinstance(call, Reservation):
            break
        try:
            most = call.hold(CallBound(read, longest, price))
        except NoRoomError as error:
            call.__exit__(type(error), error, None)
            continue
        assert min(MIN_ANSWER_TOKENS, longest) <= most <= longest
        used = int(read * read_share), int(most * written_share)
        under_way.append((call, *used, is_known))
        for _ in range(min(ends, len(under_way))):
            settle(*under_way.popleft(), price)
    while under_way:
        settle(*under_way.popleft(), price)
    assert turn.cost is not None
    assert turn.cost <= cost
    assert tokens is None or turn.tokens <= tokens


def settle(call: Reservation, read: int, written: int, is_known: bool, price: Any) -> None:
    cost = price(read, written)
    usage = {"input_tokens": read, "output_tokens": written, "cost_usd": cost}
    call.settle_call(usage if is_known else None)


COUNTS = st.builds(Counts, *[st.integers(0, 3_000)] * 6, st.integers(0, 5))
KINDS = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
ALL_RATES = st.builds(Rates, **dict.fromkeys((*KINDS, "web_search", "request"), PRICES))


# Holds: agent-39
@given(COUNTS, ALL_RATES, st.none() | st.tuples(st.integers(1, 4_000), ALL_RATES))
def test_no_form_of_a_call_costs_more_than_is_held_back_for_it(
    counts: Counts, rates: Rates, longer: tuple[int, Rates] | None
) -> None:
    rates = rates if longer is None else replace(rates, beyond=(longer,))
    read, written = sum(counts[:4]), sum(counts[4:6])
    hour = counts.cache_write_1h > 0
    most = rates.bound_cost(read, written, searches=counts.web_searches, keeps_hour=hour)
    assert rates.compute_cost(counts) <= most


SEARCH = {"type": "web_search_20250305", "name": "web_search"}


# Holds: agent-39
@pytest.mark.parametrize(
    ("tools", "searches"),
    [
        ([], 0),
        ([{**SEARCH, "max_uses": 3}], 3),
        ([SEARCH], 10),
        ([{"type": "web_search_preview"}, {**SEARCH, "max_uses": 0}, {"name": "look"}], 10),
    ],
)
@pytest.mark.parametrize("keeps_hour", [False, True])
def test_the_searches_of_a_service_are_held_back_at_their_price(
    tools: list[Any], searches: int, keeps_hour: bool
) -> None:
    prices = ModelPrices.model_validate(
        {"input": 1, "output": 2, "cache_write": 3, "cache_write_1h": 4, "web_search": 10}
    )
    request = ChatRequest(messages=[Message(role="user", content="hi")])
    pricing = Pricing("mine", prices={"m": prices})
    body: dict[str, Any] = {"tools": tools}
    bound = request_bound(
        body, "m", request, 500, 200, InputCounts(), pricing, ("m",), keeps_hour=keeps_hour
    )
    read = Decimal(500 * (4 if keeps_hour else 3))
    assert bound.estimate(200).cost == (read + 200 * 2) / 1_000_000 + searches * Decimal("0.01")


def test_the_most_that_a_call_costs_is_its_dearest_form() -> None:
    rates = Rates(
        input=100,
        output=500,
        cache_read=10,
        cache_write=125,
        cache_write_1h=200,
        reasoning=700,
        web_search=1_000,
        request=300,
        beyond=((1_000, Rates(input=400, output=500, reasoning=500)),),
    )
    assert rates.bound_cost(10, 2) == make_dollars(300 + 10 * 125 + 2 * 700)
    assert rates.bound_cost(10, 2, keeps_hour=True) == make_dollars(300 + 10 * 200 + 2 * 700)
    assert rates.bound_cost(10, 2, searches=4) == make_dollars(300 + 10 * 125 + 2 * 700 + 4 * 1_000)
    assert rates.bound_cost(2_000, 1) == make_dollars(2_000 * 400 + 500)


@pytest.mark.parametrize(("money", "longest"), [("0.9", -1), ("1", 0), ("2.4", 14), ("9", 50)])
def test_the_longest_answer_is_what_the_money_pays(money: str, longest: int) -> None:
    bound = CallBound(10, 50, lambda read, written: Decimal(read + written) / 10)
    assert bound.longest_answer(None, Decimal(money)) == longest
    assert bound.longest_answer(15, Decimal(100)) == 5
    assert bound.longest_answer(9, None) == -1


@pytest.mark.parametrize(
    ("body", "limited"),
    [
        ({"max_completion_tokens": 9_000}, {"max_completion_tokens": 300}),
        ({"max_output_tokens": 9_000}, {"max_output_tokens": 300}),
        ({}, {"max_tokens": 300}),
    ],
)
def test_an_answer_is_limited_where_its_request_says_so_and_nowhere_else(
    body: dict[str, int], limited: dict[str, int]
) -> None:
    limit_answer(body, "max_tokens", 300)

    assert body == limited
