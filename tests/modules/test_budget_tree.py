"""What turns and the sub-agents within them may use together."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import Usage
from amplifier_modules.spending.budget import Budget
from amplifier_modules.spending.ledger import Ledger, Limit
from amplifier_modules.spending.reservation import Reservation
from amplifier_providers.prices.amounts import Estimate

BUDGETS = st.builds(
    Budget,
    model_calls=st.none() | st.integers(1, 6),
    tool_calls=st.none() | st.integers(1, 6),
    tokens=st.none() | st.integers(1, 600),
    cost=st.none() | st.decimals(min_value="0.01", max_value=6, places=2),
    seconds=st.none() | st.floats(min_value=0.5, max_value=60),
)
TREES = st.lists(st.tuples(st.integers(0, 5), BUDGETS), min_size=1, max_size=6)
"""Turns: each has a turn around it, one of those before it, but for the first."""
AMOUNTS = st.tuples(st.integers(0, 200), st.decimals(0, 2, places=2))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("call"), st.integers(0, 5), AMOUNTS, AMOUNTS),
        st.tuples(
            st.just("end"), st.integers(0, 5), st.sampled_from(["ok", "failed", "cancelled"])
        ),
        st.tuples(st.just("tool"), st.integers(0, 5)),
        st.tuples(st.just("time"), st.floats(0, 30)),
    ),
    max_size=40,
)
NO_LIMIT = Budget(model_calls=None)
FANS = st.builds(
    lambda tokens, cost: [
        (0, Budget(model_calls=None, tokens=tokens, cost=cost)),
        *[(0, NO_LIMIT)] * 6,
    ],
    st.integers(50, 400) | st.none(),
    st.none() | st.integers(1, 4),
)
"""A turn with a budget, and sub-agents that have none of their own."""
USED = st.tuples(st.integers(20, 200), st.sampled_from([Decimal("0.5"), Decimal(1), Decimal(2)]))
RUSHES = st.lists(
    st.lists(st.tuples(USED, USED, st.sampled_from(["ok", "cancelled"])), min_size=3, max_size=6),
    min_size=1,
    max_size=4,
).map(
    lambda waves: [
        step
        for wave in waves
        for step in (
            *(("call", at, guess, used) for at, (guess, used, _) in enumerate(wave, 1)),
            *(("end", at, how) for at, (_, _, how) in enumerate(wave, 1)),
        )
    ]
)
"""Calls that begin before others have ended, in waves."""


class Node:
    """A turn, what it has used itself, and its call that is under way."""

    def __init__(self, number: int, around: Node | None, budget: Budget, world: World) -> None:
        self.around = around
        self.budget = budget
        self.began = world.now
        self.ledger = Ledger(budget, around and around.ledger, lambda: world.now)
        self.calls: list[tuple[int, Decimal]] = []
        self.closing_calls = 0
        self.tools = 0
        self.running: tuple[Reservation, Estimate, tuple[int, Decimal]] | None = None

    def chain(self) -> Iterator[Node]:
        node: Node | None = self
        while node is not None:
            yield node
            node = node.around


class World:
    """A tree of turns and a clock."""

    def __init__(self, tree: list[tuple[int, Budget]], *, is_exact: bool) -> None:
        self.now = 0.0
        self.is_exact = is_exact
        self.nodes: list[Node] = []
        for number, (around, budget) in enumerate(tree):
            parent = self.nodes[around % number] if number else None
            self.nodes.append(Node(number, parent, budget, self))

    def take(self, step: tuple[Any, ...]) -> None:
        kind, *given = step
        if kind == "time":
            self.now += given[0]
            return
        node = self.nodes[given[0] % len(self.nodes)]
        if kind == "call" and node.running is None:
            self.call(node, *given[1:])
        elif kind == "end" and node.running is not None:
            self.end(node, given[1])
        elif kind == "tool":
            node.tools += node.ledger.take_tool_call() is None

    def call(self, node: Node, guess: tuple[int, Decimal], used: tuple[int, Decimal]) -> None:
        if self.is_exact:
            guess = max(guess[0], used[0]), max(guess[1], used[1])
        estimate = Estimate(*guess)
        reservation = node.ledger.reserve(estimate)
        if isinstance(reservation, Limit) and reservation.kind == "model_calls":
            if node.closing_calls or not node.ledger.has_called:
                return
            reservation = node.ledger.reserve(estimate, is_closing=True)
            node.closing_calls += not isinstance(reservation, Limit)
        if isinstance(reservation, Reservation):
            node.running = (reservation, estimate, used)

    def end(self, node: Node, how: str) -> None:
        assert node.running is not None
        (reservation, estimate, used), node.running = node.running, None
        try:
            with reservation:
                if how == "ok":
                    reservation.settle_call(Usage(
                        input_tokens=used[0], output_tokens=0, total_tokens=used[0], cost_usd=used[1]
                    ))  # fmt: skip
                    node.calls.append(used)
                elif how == "cancelled":
                    node.calls.append((estimate.tokens, estimate.cost))
                    raise KeyboardInterrupt
                else:
                    raise ValueError
        except (ValueError, KeyboardInterrupt):
            pass

    def within(self, node: Node) -> list[Node]:
        return [each for each in self.nodes if node in each.chain()]


def run(tree: list[tuple[int, Budget]], steps: list[Any], *, is_exact: bool) -> World:
    world = World(tree, is_exact=is_exact)
    for step in steps:
        world.take(step)
    for node in world.nodes:
        if node.running is not None:
            world.end(node, "ok")
    return world


# Holds: agent-42
@given(st.one_of(st.tuples(TREES, STEPS), st.tuples(FANS, RUSHES)))
def test_concurrent_children_overspend_by_at_most_one_call_each(
    case: tuple[list[tuple[int, Budget]], list[Any]],
) -> None:
    world = run(*case, is_exact=False)
    for node in world.nodes:
        within, budget = world.within(node), node.budget
        tokens = sum(used for each in within for used, _ in each.calls)
        cost = sum((used for each in within for _, used in each.calls), Decimal(0))
        one_each = [
            (max(tokens for tokens, _ in each.calls), max(cost for _, cost in each.calls))
            for each in within
            if each.calls
        ]
        assert (node.ledger.tokens, node.ledger.cost) == (tokens, cost)
        if budget.tokens is not None:
            assert tokens <= budget.tokens + sum(tokens for tokens, _ in one_each)
        if budget.cost is not None:
            assert cost <= budget.cost + sum(cost for _, cost in one_each)
        if budget.model_calls is not None:
            closing = sum(each.closing_calls for each in within)
            assert sum(len(each.calls) for each in within) <= budget.model_calls + closing
            assert all(each.closing_calls <= 1 for each in within)
        if budget.tool_calls is not None:
            assert sum(each.tools for each in within) <= budget.tool_calls


# Holds: agent-42
@given(st.one_of(st.tuples(TREES, STEPS), st.tuples(FANS, RUSHES)))
def test_where_estimates_are_not_too_low_all_children_together_overspend_by_one_call(
    case: tuple[list[tuple[int, Budget]], list[Any]],
) -> None:
    world = run(*case, is_exact=True)
    for node in world.nodes:
        calls = [call for each in world.within(node) for call in each.calls]
        if node.budget.tokens is not None:
            most = max((tokens for tokens, _ in calls), default=0)
            assert sum(tokens for tokens, _ in calls) <= node.budget.tokens + most
        if node.budget.cost is not None:
            dearest = max((cost for _, cost in calls), default=Decimal(0))
            assert sum(cost for _, cost in calls) <= node.budget.cost + dearest


@given(st.one_of(st.tuples(TREES, STEPS), st.tuples(FANS, RUSHES)))
def test_nothing_is_held_back_once_all_calls_are_over(
    case: tuple[list[tuple[int, Budget]], list[Any]],
) -> None:
    world = run(*case, is_exact=False)
    for node in world.nodes:
        may_go_on = all(
            (each.budget.tokens is None or each.ledger.tokens < each.budget.tokens)
            and (each.budget.cost is None or each.ledger.cost < each.budget.cost)
            and (
                each.budget.model_calls is None or each.ledger.model_calls < each.budget.model_calls
            )
            and (each.budget.seconds is None or world.now - each.began < each.budget.seconds)
            for each in node.chain()
        )
        assert (node.ledger.reached_limit() is None) == may_go_on
        left = tokens_left_alone(node)
        if may_go_on and left is not None and left > 1:
            # Two calls that fit together may run at the same time.
            calls = [node.ledger.reserve(Estimate(part)) for part in (1, left - 1)]
            for call in calls:
                assert isinstance(call, Reservation)
                call.__exit__(None, None, None)


def tokens_left_alone(node: Node) -> int | None:
    """The tokens that a turn may use, if nothing else limits its calls."""
    budgets = [(each.budget, each.ledger) for each in node.chain()]
    if any(budget.cost is not None or budget.model_calls is not None for budget, _ in budgets):
        return None
    left = [budget.tokens - used.tokens for budget, used in budgets if budget.tokens is not None]
    return min(left, default=None)


@given(TREES, STEPS)
def test_the_time_of_a_turn_is_that_of_the_tightest_turn_around_it(
    tree: list[tuple[int, Budget]], steps: list[Any]
) -> None:
    world = run(tree, steps, is_exact=False)
    for node in world.nodes:
        left = [
            each.budget.seconds - (world.now - each.began)
            for each in node.chain()
            if each.budget.seconds is not None
        ]
        assert node.ledger.seconds_left() == (max(min(left), 0) if left else None)


# Holds: agent-45
@given(TREES, STEPS)
def test_each_turn_warns_once_of_each_limit_from_80_percent_on(
    tree: list[tuple[int, Budget]], steps: list[Any]
) -> None:
    world = World(tree, is_exact=False)
    told: list[tuple[Any, str]] = []
    for node in world.nodes:
        node.ledger.hooks = node  # pyright: ignore[reportAttributeAccessIssue] -- it is only passed on
    for step in steps:
        world.take(step)
        for node in world.nodes:
            told += [(owner, data["kind"]) for owner, data in node.ledger.take_warnings()]
    assert len(told) == len(set(told))
    for node in world.nodes:
        ledger, budget = node.ledger, node.budget
        used = {
            "model_calls": ledger.model_calls,
            "tool_calls": ledger.tool_calls,
            "tokens": ledger.tokens,
            "cost": ledger.cost,
            "seconds": world.now - node.began,
        }
        due = {
            kind
            for kind, amount in used.items()
            if (limit := getattr(budget, kind)) is not None
            and Decimal(amount) >= Decimal(limit) * Decimal("0.8")
        }
        assert {kind for owner, kind in told if owner is node} == due
