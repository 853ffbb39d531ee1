"""What a turn costs, with its sub-agents and their models, and how a budget ends it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from amplifier_agent import Agent, Budget, ScriptedProvider
from amplifier_core.llm_errors import ConfigurationError, LLMError
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    Fault,
    ResponsesServer,
    Usage,
)

CLAUDE = {"claude": {"input": 1_000, "output": 5_000}}
GPT = {"gpt": {"input": 2_000, "output": 8_000}}
USED = Usage(input=1_000, output=200)
"""2 dollars at the prices of Claude, 3.6 at those of the other."""


@pytest.fixture
def claude() -> Iterator[AnthropicServer]:
    call = Answer(Call("look_up", {"prompt": "What?"}), usage=USED)
    with AnthropicServer([call, Answer("Found.", usage=USED)] * 3) as server:
        yield server


@pytest.fixture
def gpt() -> Iterator[ResponsesServer]:
    with ResponsesServer([Answer("It is here.", usage=USED)] * 3) as server:
        yield server


def agent_of(server: Any, module: str, model: str, prices: Any, **options: Any) -> Agent[None]:
    config = {
        "api_key": "key", "base_url": server.url, "default_model": model, "prices": prices,
    }  # fmt: skip
    return Agent(plan={"providers": [{"module": module, "config": config}]}, **options)


@pytest.fixture
def lead(claude: AnthropicServer, gpt: ResponsesServer) -> Agent[None]:
    reader = agent_of(gpt, "provider-openai", "gpt-5.5", GPT)
    tools = [reader.as_tool("look_up", "Looks things up.")]
    return agent_of(claude, "provider-anthropic", "claude-opus-4-6", CLAUDE, tools=tools)


async def test_a_turn_costs_what_all_its_calls_and_sub_agents_do(lead: Agent[None]) -> None:
    async with lead.session() as session:
        results = [await session.run("Find it") for _ in range(2)]
        told = await session.session.coordinator.collect_contributions("session.cost")

    assert [(each.cost, each.model_calls) for each in results] == [(Decimal("7.6"), 3)] * 2
    assert results[0].to_dict()["cost"] == "7.6"
    # The session knows all its turns.
    assert told == [
        {"provider": "anthropic", "cost_usd": "8", "model_calls": 4, "unpriced_calls": 0},
        {"cost_usd": "7.2", "model_calls": 2, "unpriced_calls": 0},
    ]
    assert sum(Decimal(each["cost_usd"]) for each in told) == sum(
        each.cost or 0 for each in results
    )


async def test_an_answer_that_broke_off_is_paid_as_far_as_the_service_counted_it() -> None:
    half = Fault(error_after=3)
    with AnthropicServer([Answer("Found.", usage=USED)], faults=[half]) as server:
        agent = agent_of(server, "provider-anthropic", "claude-opus-4-6", CLAUDE)
        async with agent.session() as session:
            with pytest.raises(LLMError):
                await session.run("Find it")
            result = session.last
    assert result is not None
    assert (result.status, result.model_calls) == ("error", 0)
    assert result.usage.input == 1_000
    assert result.cost == 1 + Decimal(result.usage.output) / 200


@pytest.mark.parametrize(("cost", "calls"), [("2.2", 0), ("4.5", 1), ("8", 2), ("8.2", 3)])
async def test_a_budget_of_cost_counts_sub_agents_and_ends_the_turn(
    lead: Agent[None], cost: str, calls: int
) -> None:
    # What each call needs: what is spent, its input's bound, and 256 tokens of an answer.
    # The lead: (490 bytes + 512 for its tools) * 0.001 + 256 * 0.005 = 2.28 dollars.
    # The reader: 2 + 254 bytes * 0.002 + 256 * 0.008 = 4.56 dollars.
    # The lead again: 5.6 + (1,000 counted + 203 new bytes) * 0.001 + 256 * 0.005 = 8.08 dollars.
    result = await lead.replace(budget=Budget(cost=Decimal(cost))).run("Find it")
    assert result.model_calls == calls
    if calls < 3:
        reason = f"the budget of ${cost} has no room for another call"
        assert (result.status, result.reason) == ("limit", reason)
    else:
        assert result.status == "completed"


async def test_a_budget_of_cost_names_the_model_without_a_price(claude: AnthropicServer) -> None:
    agent = agent_of(claude, "provider-anthropic", "brand-new", {}, budget=Budget(cost=1))
    with pytest.raises(ConfigurationError) as caught:
        await agent.run("go")
    assert str(caught.value) == (
        "the budget has a `cost`, and no price is known for `brand-new` of `anthropic`; set its"
        " `prices`"
    )
    assert claude.requests == []


async def test_one_call_without_a_price_leaves_the_cost_of_the_turn_unknown(
    claude: AnthropicServer,
) -> None:
    reader = Agent(ScriptedProvider(["It is here."]))
    tools = [reader.as_tool("look_up", "Looks things up.")]
    agent = agent_of(claude, "provider-anthropic", "claude-opus-4-6", CLAUDE, tools=tools)
    async with agent.session() as session:
        assert (await session.run("Find it")).cost is None
        told = await session.session.coordinator.collect_contributions("session.cost")
    assert [(each["cost_usd"], each["unpriced_calls"]) for each in told] == [("4", 0), ("0", 1)]
