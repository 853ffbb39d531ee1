"""A thousand sub-agents, runs or calls at once spend no more than they may together."""

from __future__ import annotations

import sqlite3
import sys
from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from amplifier_agent import Budget
from arcllm import load_model
from arcllm.layers.budget import ArcLLMBudgetError

sys.path.insert(0, str(Path(__file__).parents[1] / "agent"))

from greedy_server import MILLION, PRICES, GreedyServer, fan

COUNT = 1_000
DOLLARS = pytest.mark.parametrize("dollars", ["0.5", "5"])


@DOLLARS
async def test_a_thousand_sub_agents_at_once_spend_no_more_than_their_turn_may(
    dollars: str,
) -> None:
    with GreedyServer(fan(COUNT)) as server:
        reader = server.agent().as_tool("read", "Reads.")
        lead = server.agent(tools=[reader], budget=Budget(model_calls=None, cost=Decimal(dollars)))
        result = await lead.run("go")
    assert len(server.spent) >= 2
    assert server.cost <= Decimal(dollars)
    assert result.cost == server.cost


@DOLLARS
async def test_a_thousand_runs_at_once_spend_no_more_than_a_shared_budget(dollars: str) -> None:
    budget = Budget(model_calls=None, cost=Decimal(dollars)).shared()
    with GreedyServer(*["Hello."] * COUNT) as server:
        agent = server.agent(budget=budget)
        async with anyio.create_task_group() as group:
            for _ in range(COUNT):
                group.start_soon(agent.run, "go")
    assert len(server.spent) >= 1
    assert server.cost <= Decimal(dollars)
    assert budget.used.cost == server.cost


@DOLLARS
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_thousand_calls_at_once_spend_no_more_than_their_file_allows(
    dollars: str, is_stream: bool, tmp_path: Path
) -> None:
    file = tmp_path / "budget"
    budget = {"daily_limit_usd": dollars, "path": file, "prices": PRICES}
    refused = 0
    with GreedyServer(*["Hello."] * COUNT) as server:
        async with load_model(
            "anthropic:claude-opus-4-6", api_key="key", base_url=server.url, budget=budget
        ) as model:

            async def ask() -> None:
                nonlocal refused
                try:
                    if is_stream:
                        assert [each async for each in model.stream("Hi")]
                    else:
                        await model.complete("Hi")
                except ArcLLMBudgetError:
                    refused += 1

            async with anyio.create_task_group() as group:
                for _ in range(COUNT):
                    group.start_soon(ask)
    connection = sqlite3.connect(file)
    (spent,) = connection.execute("SELECT MAX(micros) FROM spent").fetchone()
    (held,) = connection.execute("SELECT COUNT(*) FROM reserved").fetchone()
    connection.close()
    assert 1 <= len(server.spent) == COUNT - refused
    assert server.cost <= Decimal(dollars)
    # Each call is rounded up to a millionth of a dollar.
    assert 0 <= spent - server.cost * MILLION <= len(server.spent)
    assert held == 0
