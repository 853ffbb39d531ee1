"""One budget for several runs, sessions and sub-agents: what they use together, and how they end."""

from __future__ import annotations

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_agent import (
    Agent,
    Budget,
    BudgetAmounts,
    Result,
    ScriptedProvider,
    SharedBudget,
    Status,
    ToolContext,
    tool,
)
from amplifier_core.llm_errors import ConfigurationError

sys.path.insert(0, str(Path(__file__).parent))

from greedy_server import GreedyServer, fan


@tool
def look() -> str:
    """Look."""
    return "nothing"


LOOK: dict[str, Any] = {"tool": "look", "arguments": {}}
USED_UP = "the shared budget of 3 model calls is used up"


def ending(result: Result[Any]) -> tuple[str, str | None, int]:
    return result.status, result.reason, result.model_calls


# Holds: agent-35
async def test_several_runs_draw_on_one_budget() -> None:
    budget = Budget(model_calls=3).shared()
    agent = Agent(ScriptedProvider(["one", "two", "three"]), budget=budget)
    results = [await agent.run("go") for _ in range(4)]
    assert [ending(each) for each in results] == [
        ("completed", None, 1),
        ("completed", None, 1),
        ("completed", None, 1),
        ("limit", USED_UP, 0),
    ]


# Holds: agent-43
async def test_the_turns_of_a_conversation_draw_on_one_budget_and_close_as_others_do() -> None:
    budget = Budget(model_calls=3).shared()
    model = ScriptedProvider([LOOK, "one", LOOK, "closing"])
    async with Agent(model, tools=[look], budget=budget).session() as session:
        results = [await session.run("go") for _ in range(3)]
    assert [(each.text, *ending(each)) for each in results] == [
        ("one", "completed", None, 2),
        ("closing", "limit", USED_UP, 2),
        ("", "limit", USED_UP, 0),
    ]


# Holds: agent-43
async def test_it_is_accepted_wherever_a_budget_is() -> None:
    budget = Budget(model_calls=8, tool_calls=3).shared()
    child = Agent(ScriptedProvider(["read"], repeat=True), budget=budget)

    @tool
    async def spawn(context: ToolContext) -> str:
        """Have a sub-agent work."""
        spawn = context.session.coordinator.get_capability("session.spawn")
        return (await spawn("go", tools=[], budget=budget)).text

    def model(*script: Any) -> ScriptedProvider:
        return ScriptedProvider([*script, "done"])

    plan = {"session": {"orchestrator": {"module": "loop-basic", "config": {"budget": budget}}}}
    await Agent(model(), plan=plan).run("in the config of a loop")
    await Agent(model()).run("of a run", budget=budget)
    async with Agent(model()).stream("of a stream", budget=budget) as events:
        assert [event async for event in events][-1] is events.result
    async with Agent(model()).session() as session:
        await session.run("of a turn of a session", budget=budget)
    reader = child.as_tool("read", "Reads.")
    await Agent(model({"tool": "read", "arguments": {"prompt": "x"}}), tools=[reader]).run("tool")
    spawning = model({"tool": "spawn", "arguments": {}}, "the answer of the sub-agent")
    assert (await Agent(spawning, tools=[spawn]).run("spawn")).status == "completed"
    assert (budget.used.model_calls, budget.left.model_calls) == (6, 2)
    task = {"module": "tool-task", "config": {"budget": budget}}
    tasks = model({"tool": "task", "arguments": {"prompt": "x"}}, "the answer of the task")
    await Agent(tasks, tools=[task]).run("task", budget=Budget(model_calls=None))
    assert (budget.used.model_calls, budget.left.model_calls) == (7, 1)


async def test_a_sub_agent_with_the_budget_of_its_turn_counts_once() -> None:
    budget = Budget(tool_calls=9).shared()
    reader = Agent(ScriptedProvider(["read"]), budget=budget).as_tool("read", "Reads.")
    model = ScriptedProvider([{"tool": "read", "arguments": {"prompt": "x"}}, "done"])
    result = await Agent(model, tools=[reader], budget=budget).run("go")
    assert (result.model_calls, budget.used.model_calls, budget.used.tool_calls) == (3, 3, 1)


async def test_it_shows_what_is_used_and_what_is_left() -> None:
    budget = Budget(model_calls=10, tool_calls=4, cost=2).shared()
    assert budget.used == BudgetAmounts(
        model_calls=0, tool_calls=0, tokens=0, cost=Decimal(0), seconds=0
    )
    with GreedyServer("Hello.") as server:
        result = await server.agent(budget=budget).run("hi", budget=budget)
    assert result.usage.total == server.tokens
    used, left = budget.used, budget.left
    assert (used.model_calls, used.tool_calls, used.tokens) == (1, 0, server.tokens)
    assert (used.cost, used.seconds and used.seconds > 0) == (server.cost, True)
    assert left == BudgetAmounts(
        model_calls=9, tool_calls=4, tokens=None, cost=2 - server.cost, seconds=None
    )


LIMITS = [
    (Budget(tool_calls=1), "the shared budget of 1 tool call is used up"),
    (Budget(tokens=20), "the shared budget of 20 tokens is used up"),
    (Budget(model_calls=1), "the shared budget of 1 model call is used up"),
]


# Holds: agent-43
@pytest.mark.parametrize(("budget", "reason"), LIMITS)
async def test_the_reason_says_which_limit_of_the_shared_budget(
    budget: Budget, reason: str
) -> None:
    model = ScriptedProvider([LOOK, LOOK, "done"], repeat=True)
    agent = Agent(model, tools=[look], budget=budget.shared())
    result = await agent.run("go")
    assert (result.status, result.reason) == ("limit", reason)


async def test_no_room_for_another_call_names_the_shared_budget() -> None:
    with GreedyServer() as server:
        result = await server.agent(budget=Budget(cost=Decimal("0.001")).shared()).run("hi")
    assert (result.status, result.reason) == (
        "limit",
        "the shared budget of $0.001 has no room for another call",
    )
    assert server.requests == []


async def test_a_shared_cost_needs_known_prices() -> None:
    agent = Agent(ScriptedProvider(["x"]), budget=Budget(cost=1).shared())
    with pytest.raises(ConfigurationError, match="`scripted` does not tell what a call costs"):
        await agent.run("go")


async def test_it_warns_once_and_says_that_it_is_shared() -> None:
    agent = Agent(ScriptedProvider(["x"], repeat=True), budget=Budget(model_calls=5).shared())
    said: list[list[str]] = []
    for _ in range(5):
        async with agent.stream("go") as events:
            said.append([each.text async for each in events if isinstance(each, Status)])
    assert said == [[], [], [], ["4 of the 5 model calls of the shared budget are used up"], []]


async def test_runs_at_once_spend_no_more_than_it_has() -> None:
    budget = Budget(cost=Decimal("0.05")).shared()
    with GreedyServer("a", "b", "c", "d", "e", "f") as server:
        agent = server.agent(budget=budget)
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(agent.run, "go")
    assert 0 < server.cost <= Decimal("0.05")
    assert budget.used.cost == server.cost


# Holds: agent-43
def test_threads_and_event_loops_share_it() -> None:
    budget = Budget(cost=Decimal("0.2")).shared()
    with GreedyServer(*"abcdefgh") as server:
        reader = server.agent().as_tool("read", "Reads.")
        agent = server.agent(tools=[reader], budget=budget)
        with ThreadPoolExecutor(8) as threads:
            results = list(threads.map(agent.run_sync, ["go"] * 8))
    assert {each.status for each in results} <= {"completed", "limit"}
    assert 0 < server.cost <= Decimal("0.2")
    assert budget.used.cost == server.cost
    assert budget.used.tokens == server.tokens


async def test_a_turn_keeps_the_budgets_around_it_beside_a_shared_one() -> None:
    with GreedyServer(fan(4)) as server:
        shared = Budget(cost=Decimal("0.03")).shared()
        reader = server.agent(budget=shared).as_tool("read", "Reads.")
        lead = server.agent(tools=[reader], budget=Budget(cost=Decimal("0.05")))
        result = await lead.run("go")
    assert server.cost <= Decimal("0.05")
    assert result.cost == server.cost
    assert shared.used.cost is not None
    assert 0 < shared.used.cost <= Decimal("0.03")


def test_it_is_itself_and_no_other() -> None:
    limits = Budget(tokens=5)
    budget = limits.shared()
    assert budget != limits.shared()
    assert budget.shared() is budget
    assert copy.deepcopy({"budget": budget})["budget"] is copy.copy(budget) is budget
    assert {budget: 1}[budget] == 1
    assert repr(budget) == repr(limits).replace("Budget", "SharedBudget")
    with pytest.raises(TypeError, match="a shared budget cannot be pickled"):
        pickle.dumps(budget)
    with pytest.raises(ValueError, match="`tokens` of a budget is `0`"):
        SharedBudget(tokens=0)
