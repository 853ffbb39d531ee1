"""What a turn may use."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import Usage
from amplifier_modules.spending.budget import Budget
from amplifier_modules.spending.ledger import Ledger
from amplifier_modules.spending.reservation import Reservation

LIMITS = {
    "model_calls": st.none() | st.integers(1, 10),
    "tool_calls": st.none() | st.integers(1, 10),
    "tokens": st.none() | st.integers(1, 1000),
    "cost": st.none() | st.decimals(min_value="0.01", max_value=100, places=2),
    "seconds": st.none() | st.floats(min_value=0.1, max_value=1e6),
}
BUDGETS = st.builds(Budget, **LIMITS)


@given(BUDGETS)
def test_a_budget_survives_a_mount_plan(budget: Budget) -> None:
    assert Budget.of_config(json.loads(json.dumps(budget.config()))) == budget


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        (
            {"model_calls": 0},
            ValueError,
            "`model_calls` of a budget is `0` (must be a whole number",
        ),
        ({"tool_calls": 1.5}, TypeError, "`tool_calls` of a budget is of type `float` (must be a"),
        ({"tokens": True}, TypeError, "`tokens` of a budget is of type `bool` (must be a whole"),
        ({"seconds": float("nan")}, ValueError, "`seconds` of a budget is `nan` (must be a number"),
        ({"cost": "cheap"}, ValueError, "`cost` of a budget is `cheap` (must be a number)"),
        ({"cots": 1}, TypeError, "cots"),
    ],
)
def test_a_limit_that_cannot_be_used_is_refused(
    limits: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        Budget.of_config(limits)
    assert message in str(caught.value)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("model"), st.integers(0, 300), st.decimals(0, 20, places=2)),
        st.just(("tool",)),
    ),
    max_size=30,
)


# Holds: agent-36
@given(BUDGETS, st.none() | BUDGETS, STEPS)
def test_no_step_is_taken_past_a_limit_of_the_turn_or_the_turns_around_it(
    inner: Budget, outer: Budget | None, steps: list[Any]
) -> None:
    clock = Clock()
    parent = None if outer is None else Ledger(outer, None, clock)
    ledger = Ledger(inner, parent, clock)
    models = tools = tokens = 0
    cost = Decimal(0)
    budgets = [each for each in (inner, outer) if each is not None]

    def used_up() -> bool:
        return any(
            (each.tokens is not None and tokens >= each.tokens)
            or (each.cost is not None and cost >= each.cost)
            for each in budgets
        )

    for kind, *used in steps:
        if kind == "model":
            limits = [each.model_calls for each in budgets if each.model_calls is not None]
            may = not used_up() and models < min(limits, default=models + 1)
            assert (ledger.reached_limit() is None) == may
            if may:
                models, tokens, cost = models + 1, tokens + used[0], cost + used[1]
                call = ledger.reserve()
                assert isinstance(call, Reservation)
                call.settle_call(
                    Usage(input_tokens=used[0], output_tokens=0, total_tokens=0, cost_usd=used[1])
                )
        else:
            limits = [each.tool_calls for each in budgets if each.tool_calls is not None]
            may = not used_up() and tools < min(limits, default=tools + 1)
            assert (ledger.take_tool_call() is None) == may
            tools += may


def test_the_time_of_the_turn_around_counts() -> None:
    clock = Clock()
    outer = Ledger(Budget(seconds=10), None, clock)
    clock.now = 4
    inner = Ledger(Budget(seconds=7), outer, clock)
    assert inner.seconds_left() == 6
    clock.now = 20
    assert inner.seconds_left() == 0
    assert Ledger(Budget(), None, clock).seconds_left() is None


async def test_a_model_at_its_limit_says_what_it_found(bench, say, valid):
    turn = bench(
        "streaming",
        say.calls(("1", "look", {})),
        say.text("so far"),
        config={"budget": {"model_calls": 1}},
    )
    turn.tool("look", lambda given: "seen")

    assert await turn.run("hi") == "so far"
    assert turn.provider.requests[1].tool_choice == "none"
    valid(await turn.history())
    complete = turn.data("orchestrator:complete")[0]
    assert complete["status"] == "incomplete"
    assert complete["reason"] == "the budget of 1 model call is used up"


async def test_a_call_past_the_limit_is_not_run_and_ends_the_turn(bench, say, valid):
    ran: list[Any] = []
    turn = bench(
        "basic",
        say.calls(("1", "look", {"x": 1}), ("2", "look", {"x": 2})),
        config={"budget": {"tool_calls": 1}},
    )
    turn.tool("look", lambda given: ran.append(given) or "seen")

    await turn.run("hi")

    assert len(ran) == 1
    history = await turn.history()
    valid(history)
    # Which of the two comes first is the event loop's choice.
    results = {each["content"] for each in history if each["role"] == "tool"}
    assert results == {"seen", "Not run: the budget of 1 tool call is used up."}
    assert history[-1]["content"][0]["text"] == (
        "The turn was ended: the budget of 1 tool call is used up."
    )
    assert len(turn.provider.requests) == 1


@pytest.mark.parametrize("kind", ["basic", "streaming"])
async def test_a_budget_of_cost_ends_a_turn_with_a_call_whose_cost_is_not_known(
    kind, bench, say, valid
):
    used = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    asked = say.calls(("1", "look", {}))
    asked.usage = used
    turn = bench(kind, asked, config={"budget": {"cost": "5"}})
    turn.tool("look", lambda given: "seen")

    await turn.run("hi")

    valid(await turn.history())
    assert turn.data("orchestrator:complete")[0]["reason"] == (
        "the budget of $5 cannot be kept: what a model call cost is not known"
    )
    assert len(turn.provider.requests) == 1


@pytest.mark.parametrize("kind", ["basic", "streaming"])
async def test_a_turn_ends_when_its_time_is_used_up(kind, bench, say, valid, monkeypatch):
    import anyio

    # The timer of the event loop ends the turn, however long the tool took to begin.
    parent, _, owner = Ledger.__init__.__defaults__ or (None, None, None)
    monkeypatch.setattr(Ledger.__init__, "__defaults__", (parent, lambda: 0.0, owner))

    async def sleep(_given: Any) -> str:
        await anyio.sleep_forever()
        raise AssertionError

    turn = bench(kind, say.calls(("1", "look", {})), config={"budget": {"seconds": 0.01}})
    turn.tool("look", sleep)

    await turn.run("hi")

    history = await turn.history()
    valid(history)
    assert turn.data("orchestrator:complete")[0]["reason"] == "the budget of 0.01 s is used up"
    assert "while this tool ran" in history[-2]["content"]


@pytest.mark.parametrize("limit", [{"seconds": 0.01}, {"tool_calls": 1}], ids=str)
async def test_each_call_of_a_turn_that_ends_at_a_limit_has_one_event_of_its_end(bench, say, limit):
    import anyio

    async def look(_given: Any) -> str:
        if "seconds" in limit:
            await anyio.sleep_forever()
        return "seen"

    calls = say.calls(("1", "look", {}), ("2", "look", {}))
    turn = bench("basic", calls, config={"budget": limit})
    turn.tool("look", look)

    await turn.run("hi")

    ends = [each for event in ("tool:post", "tool:error") for each in turn.data(event)]
    assert sorted(each["tool_call_id"] for each in ends) == ["1", "2"]
    reason = turn.data("orchestrator:complete")[0]["reason"]
    assert all(each["error"]["msg"] == reason for each in turn.data("tool:error"))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param
