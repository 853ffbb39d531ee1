"""Budgets hold back the possible answer: nothing is spent past them where services keep `max_tokens`."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import (
    Agent,
    BaseProvider,
    Budget,
    Result,
    ScriptedProvider,
    Status,
    ToolContext,
    tool,
)
from amplifier_core import ChatRequest, ChatResponse, TextBlock
from amplifier_core import Usage as ReportedUsage
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    Fault,
    OllamaServer,
    Recorded,
    ResponsesServer,
    Usage,
)

sys.path.insert(0, str(Path(__file__).parent))

from greedy_server import GreedyServer, fan


# Holds: agent-38
@pytest.mark.parametrize("count", [1, 6, 16])
async def test_sub_agents_at_once_spend_no_more_than_the_turn_may(count: int) -> None:
    with GreedyServer(fan(count)) as server:
        reader = server.agent().as_tool("read", "Reads.")
        lead = server.agent(tools=[reader], budget=Budget(cost=Decimal("0.05")))
        result = await lead.run("go")
    assert server.cost <= Decimal("0.05")
    assert result.cost == server.cost
    assert len(server.spent) >= 2


@tool
async def read(context: ToolContext, prompt: str) -> str:
    """Have a sub-agent read."""
    spawn = context.session.coordinator.get_capability("session.spawn")
    return (await spawn(prompt, tools=[])).status


# Holds: agent-38
async def test_tasks_at_once_spend_no_more_than_the_turn_may() -> None:
    with GreedyServer(fan(6, "task")) as server:
        lead = server.agent("tool-task", budget=Budget(cost=Decimal("0.05")))
        result = await lead.run("go")
    assert server.cost <= Decimal("0.05")
    assert result.cost == server.cost
    assert len(server.spent) >= 2


# Holds: agent-38
async def test_spawned_sessions_at_once_spend_no_more_than_the_turn_may() -> None:
    with GreedyServer(fan(6)) as server:
        lead = server.agent(tools=[read], budget=Budget(cost=Decimal("0.05")))
        result = await lead.run("go")
    assert server.cost <= Decimal("0.05")
    assert result.cost == server.cost
    assert len(server.spent) >= 2


async def test_a_limit_of_tokens_holds_back_the_answer() -> None:
    with GreedyServer(fan(4)) as server:
        reader = server.agent().as_tool("read", "Reads.")
        result = await server.agent(tools=[reader], budget=Budget(tokens=9_000)).run("go")
    assert 4_000 < server.tokens <= 9_000
    assert result.usage.total == server.tokens


# Holds: agent-37
async def test_an_answer_is_limited_to_what_the_budget_pays_and_says_so() -> None:
    with GreedyServer() as server:
        async with server.agent(budget=Budget(tokens=3_000)).session() as session:
            seen: list[Any] = []

            async def note(event: str, data: dict[str, Any]) -> None:
                seen.append(data["response"]["degradation"])

            session.session.coordinator.hooks.register("provider:response", note)
            result = await session.run("hi")
    sent = server.requests[0].body["max_tokens"]
    assert result.status == "completed"
    assert sent + len(server.requests[0].raw) <= 3_000
    assert seen == [
        {
            "requested": "an answer of 16,000 tokens",
            "actual": f"at most {sent:,} tokens",
            "reason": "the budget pays for no more",
        }
    ]


# Holds: agent-40
async def test_a_call_with_less_than_256_tokens_for_its_answer_is_not_made() -> None:
    with GreedyServer() as server:
        result = await server.agent(budget=Budget(tokens=400)).run("hi" * 100)
    assert (result.status, result.reason) == (
        "limit",
        "the budget of 400 tokens has no room for another call",
    )
    assert server.requests == []


# Holds: agent-40
async def test_each_attempt_that_may_have_been_paid_counts() -> None:
    with GreedyServer(faults=[Fault(cut=300)]) as server:
        result = await server.agent(budget=Budget(tokens=20_000)).run("hi")
    first, second = (each.body["max_tokens"] for each in server.requests)
    assert (result.status, first, second < 4_000) == ("completed", 16_000, True)
    assert server.tokens <= 20_000


# Holds: agent-40
async def test_an_attempt_that_the_service_refused_costs_nothing() -> None:
    with GreedyServer(faults=[Fault(status=529, headers={"retry-after": "0"})]) as server:
        result = await server.agent(budget=Budget(tokens=20_000)).run("hi")
    assert [each.body["max_tokens"] for each in server.requests] == [16_000] * 2
    assert result.status == "completed"


async def test_the_input_is_bound_by_the_last_count_and_what_is_new() -> None:
    with AnthropicServer([Answer("one", usage=Usage(input=100, output=5))]) as server:
        config = {"api_key": "key", "base_url": server.url, "default_model": "claude-opus-4-6"}
        plan = {"providers": [{"module": "provider-anthropic", "config": config}]}
        long = "word " * 1_000
        budget = Budget(tokens=12_000)
        async with Agent(plan=plan, budget=budget).session() as session:
            await session.run(long)
            await session.run("again")
        first, second = (each.body["max_tokens"] for each in server.requests)
    assert first < 7_000
    assert second > 11_000


WRONG = [Usage(input=-1_000, output=-1_000), Usage(input=2**63 - 1, output=2**63 - 1)]


@pytest.mark.parametrize("used", WRONG)
async def test_a_count_that_cannot_be_counts_as_what_is_held_back(used: Usage) -> None:
    calls = [Answer(Call("look", {}), usage=used) for _ in range(30)]
    with AnthropicServer(calls) as server:
        config = {"api_key": "key", "base_url": server.url, "default_model": "claude-opus-4-6"}
        plan = {"providers": [{"module": "provider-anthropic", "config": config}]}

        def look() -> str:
            """Look."""
            return "nothing"

        agent = Agent(plan=plan, tools=[look], budget=Budget(tokens=30_000))
        result: Result[None] = await agent.run("go")
    assert result.status == "limit"
    assert 1 <= len(server.requests) <= 3
    assert result.cost is None if used.input < 0 else result.cost
    json.dumps(result.to_dict())


class DearServer(GreedyServer):
    """Counts all that is read as written to its cache, and all that is written as thoughts."""

    def take_answer(self) -> Answer | Recorded:
        answer = super().take_answer()
        assert isinstance(answer, Answer)
        used = self.spent[-1]
        answer.usage = Usage(input=0, output=0, cache_write=used.input, reasoning=used.output)
        return answer


# Holds: agent-39
@pytest.mark.parametrize("count", [1, 6])
async def test_what_is_written_to_a_cache_and_thought_is_held_back_at_its_price(count: int) -> None:
    with DearServer(fan(count)) as server:
        prices = {"claude": {"input": 5, "output": 25, "cache_write": 20}}
        reader = server.agent(prices=prices).as_tool("read", "Reads.")
        lead = server.agent(tools=[reader], prices=prices, budget=Budget(cost=Decimal("0.05")))
        result = await lead.run("go")
    read = sum(each.input for each in server.spent)
    written = sum(each.output for each in server.spent)
    assert result.cost == Decimal(read * 20 + written * 25) / 1_000_000
    assert result.cost <= Decimal("0.05")
    assert len(server.spent) >= 2


LIMITED: list[tuple[Any, str, str, tuple[str, ...]]] = [
    (ChatServer, "provider-openai-chat", "gpt-4.1", ("max_tokens",)),
    (ResponsesServer, "provider-openai", "gpt-4.1", ("max_output_tokens",)),
    (OllamaServer, "provider-ollama", "qwen3:8b", ("options", "num_predict")),
]


@pytest.mark.parametrize(("kind", "module", "model", "key"), LIMITED)
async def test_the_answer_is_limited_where_each_service_reads_it(
    kind: Any, module: str, model: str, key: tuple[str, ...]
) -> None:
    with kind(["Hello."]) as server:
        config = {"api_key": "key", "base_url": server.url, "default_model": model}
        plan = {"providers": [{"module": module, "config": config}]}
        result = await Agent(plan=plan, budget=Budget(tokens=2_000)).run("hi")
    *_, request = server.requests
    limit: Any = request.body
    for name in key:
        limit = limit[name]
    assert result.status == "completed"
    assert limit + len(request.raw) == 2_000


class WordyProvider(BaseProvider):
    """A provider of others that writes all that a request allows, and knows of no prices."""

    name = "wordy"

    def __init__(self) -> None:
        self.tokens = 0
        self.limits: list[int | None] = []

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        self.limits.append(request.max_output_tokens)
        read = len(request.model_dump_json())
        written = request.max_output_tokens or 1_000
        self.tokens += read + written
        usage = ReportedUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
        return ChatResponse(content=[TextBlock(text="Hello.")], usage=usage)

    def get_model_info(self) -> Any:
        """Return how long an answer may be."""
        return type("Model", (), {"max_output_tokens": 1_000})


# Holds: agent-39
async def test_a_limit_of_tokens_bounds_the_answers_of_providers_without_prices() -> None:
    model = WordyProvider()
    spawned: list[str] = []

    @tool
    async def read(context: ToolContext, prompt: str) -> str:
        """Have a sub-agent read."""
        spawn = context.session.coordinator.get_capability("session.spawn")
        spawned.append((await spawn(prompt, tools=[], model=model)).status)
        return "read"

    calls = [{"tool": "read", "arguments": {"prompt": f"part {part}"}} for part in range(8)]
    lead = Agent(ScriptedProvider([calls, "Done."]), tools=[read], budget=Budget(tokens=8_000))
    result = await lead.run("go")
    assert spawned.count("completed") == len(model.limits) >= 2
    assert len(spawned) == 8
    assert 4_000 < model.tokens <= 8_000
    assert model.tokens < result.usage.total


class PricedProvider(BaseProvider):
    """A provider of others that keeps the limit of an answer, and can tell what a call costs."""

    name = "priced"
    reports_cost = True

    def __init__(self) -> None:
        self.limits: list[int | None] = []

    def call_cost(self, read: int, written: int) -> Decimal:
        """Return the dollars of so many tokens."""
        return Decimal(read + 5 * written) / 1_000

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        self.limits.append(request.max_output_tokens)
        read, written = 50, request.max_output_tokens or 0
        usage = ReportedUsage(
            input_tokens=read,
            output_tokens=written,
            total_tokens=read + written,
            cost_usd=self.call_cost(read, written),
        )
        return ChatResponse(content=[TextBlock(text="Hello.")], usage=usage)

    def get_model_info(self) -> Any:
        """Return how long an answer may be."""
        return type("Model", (), {"max_output_tokens": 4_000})


async def test_the_answer_of_a_provider_of_others_is_limited_and_a_notice_says_so() -> None:
    model = PricedProvider()
    agent = Agent(model, budget=Budget(cost=Decimal(3)))
    async with agent.stream("hi") as events:
        notices = [event.text async for event in events if isinstance(event, Status)]
        result = events.result
    (limit,) = model.limits
    assert limit is not None
    assert 256 < limit < 600
    assert notices[0] == (
        f"an answer of 4,000 tokens is limited to {limit}: the budget pays for no more"
    )
    assert result.cost is not None
    assert result.cost <= 3
