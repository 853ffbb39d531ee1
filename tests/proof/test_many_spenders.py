"""A thousand sub-agents at once spend no more than their turn may."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import pytest

from amplifier_agent import Budget

sys.path.insert(0, str(Path(__file__).parents[1] / "agent"))

from greedy_server import GreedyServer, fan

COUNT = 1_000


@pytest.mark.parametrize("dollars", ["0.5", "5"])
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
