"""The account of a shared budget: its limits, its time, its locks."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.spending.budget import Budget
from amplifier_modules.spending.ledger import Ledger, Limit
from amplifier_modules.spending.reservation import Reservation
from amplifier_modules.spending.shared_account import SharedAccount
from amplifier_providers.prices.allowance import NoRoomError
from amplifier_providers.prices.call_bound import CallBound

sys.path.insert(0, str(Path(__file__).parent))
from test_budget_bound import CHILDREN, RATES, price_of, settle

NO_LIMIT = Budget(model_calls=None)


# Holds: agent-43
@given(
    st.none() | st.integers(1, 50_000),
    st.decimals("0.01", 1, places=2),
    RATES,
    CHILDREN,
    st.lists(st.integers(0, 2), min_size=20, max_size=20),
)
def test_turns_of_many_sessions_at_once_never_pass_a_shared_limit(
    tokens: int | None, cost: Decimal, rates: Any, children: list[Any], turns: list[int]
) -> None:
    price = price_of(rates)
    shared = Budget(model_calls=None, tokens=tokens, cost=cost).shared()
    half = Budget(model_calls=None, cost=cost / 2)
    lead = Ledger(half)
    roots = [Ledger(shared), Ledger(shared, lead), Ledger(shared, Ledger(shared))]
    under_way: deque[tuple[Reservation, int, int, bool]] = deque()
    for ((read, longest), read_share, written_share, is_known, ends), turn in zip(
        children, turns, strict=False
    ):
        call = Ledger(NO_LIMIT, roots[turn]).reserve()
        if not isinstance(call, Reservation):
            continue
        try:
            most = call.hold(CallBound(read, longest, price))
        except NoRoomError as error:
            call.__exit__(type(error), error, None)
            continue
        under_way.append((call, int(read * read_share), int(most * written_share), is_known))
        for _ in range(min(ends, len(under_way))):
            settle(*under_way.popleft(), price)
    while under_way:
        settle(*under_way.popleft(), price)
    used = shared.used
    assert used.cost == sum(each.cost or 0 for each in roots)
    assert used.tokens == sum(each.tokens for each in roots)
    assert used.model_calls == sum(each.model_calls for each in roots)
    assert used.cost is not None
    assert used.cost <= cost
    assert lead.cost is not None
    assert lead.cost <= cost / 2
    assert tokens is None or (used.tokens or 0) <= tokens


@contextmanager
def a_turn(ledger: Ledger) -> Generator[Ledger]:
    ledger.begin()
    try:
        yield ledger
    finally:
        ledger.end()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def timed(seconds: float) -> tuple[Any, Clock]:
    clock = Clock()
    budget = Budget(seconds=seconds).shared()
    object.__setattr__(budget, "_account", SharedAccount(Budget(seconds=seconds), clock))
    return budget, clock


# Holds: agent-44
def test_its_seconds_are_those_in_which_a_turn_of_it_runs() -> None:
    budget, clock = timed(10)
    clock.now += 50
    with a_turn(Ledger(budget)) as first:
        clock.now += 2
        with a_turn(Ledger(budget)), a_turn(Ledger(NO_LIMIT, first)):
            clock.now += 3
        assert (first.seconds_left(), budget.used.seconds, budget.left.seconds) == (5, 5, 5)
    clock.now += 50
    with a_turn(Ledger(budget)) as second:
        assert second.seconds_left() == 5
        clock.now += 6
        assert second.seconds_left() == 0
        assert second.out_of_time() == Limit("seconds", "the shared budget of 10 s is used up")
    assert (budget.used.seconds, budget.left.seconds) == (11, 0)


def test_a_turn_ends_at_the_shortest_of_its_times() -> None:
    budget, clock = timed(10)
    around = Ledger(Budget(seconds=4), clock=clock)
    with a_turn(Ledger(budget, around, clock)) as turn:
        clock.now += 1
        assert turn.seconds_left() == 3
        assert turn.out_of_time().reason == "the budget of 4 s is used up"


def test_threads_that_cross_two_shared_budgets_wait_for_no_one_for_ever() -> None:
    first, second = Budget(model_calls=None).shared(), Budget(model_calls=None).shared()

    def spend(order: int) -> None:
        outer, inner = (first, second) if order % 2 else (second, first)
        turn = Ledger(inner, Ledger(outer))
        for _ in range(200):
            call = turn.reserve()
            assert isinstance(call, Reservation)
            call.settle_call({"input_tokens": 1, "output_tokens": 1, "cost_usd": Decimal(1)})

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(spend, range(4)))
    for each in (first, second):
        assert (each.used.model_calls, each.used.tokens, each.used.cost) == (800, 1_600, 800)


def test_a_call_without_a_known_price_leaves_nothing_of_a_shared_cost() -> None:
    budget = Budget(cost=1).shared()
    call = Ledger(budget).reserve()
    assert isinstance(call, Reservation)
    call.settle_call({"input_tokens": 1, "output_tokens": 1})
    assert (budget.used.cost, budget.left.cost) == (None, 0)
    reason = "the shared budget of $1 cannot be kept: what a model call cost is not known"
    assert Ledger(budget).reserve() == Limit("cost", reason)


def test_what_is_held_back_for_calls_under_way_is_not_left() -> None:
    budget = Budget(model_calls=5, tokens=1_000).shared()
    call = Ledger(budget).reserve()
    assert isinstance(call, Reservation)
    call.hold(CallBound(100, 400, lambda read, written: None))
    assert (budget.used.tokens, budget.left.tokens, budget.left.model_calls) == (0, 500, 4)
