"""What a service or provider counts wrongly is no credit: the bound counts in its place."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

import amplifier_core
from amplifier_agent import Agent, BaseProvider, Budget
from amplifier_core import ChatRequest, ChatResponse, TextBlock
from amplifier_core import session as plain
from amplifier_core.message_models import ToolCall, Usage
from amplifier_testing.servers import ChatServer, Recorded

WRONG: list[Any] = [
    None,
    {},
    "many",
    {"prompt_tokens": None},
    {"prompt_tokens": "9", "completion_tokens": [1]},
    {"prompt_tokens": -1_000, "completion_tokens": -500, "total_tokens": -1_500},
]


def look(page: int) -> str:
    """Look at a page."""
    return f"page {page}: nothing"


def answer_with(usage: Any) -> Recorded:
    """Return a call of a tool with this usage, as a service sends it."""
    call: dict[str, Any] = {"index": 0, "id": "call_1", "type": "function"}
    call["function"] = {"name": "look", "arguments": '{"page": 1}'}
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-4.1"}
    choice = {"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}
    end: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    chunks: list[Any] = [
        {**common, "choices": [choice]},
        {**common, "choices": [end], "usage": usage},
    ]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return Recorded("".join([*lines, "data: [DONE]\n\n"]).encode())


# Holds: agent-41
@pytest.mark.parametrize("usage", WRONG, ids=json.dumps)
async def test_usage_that_a_service_does_not_count_uses_a_budget_of_tokens_up(usage: Any) -> None:
    with ChatServer([answer_with(usage)] * 60) as server:
        config = {"api_key": "key", "base_url": server.url, "default_model": "gpt-4.1"}
        plan = {"providers": [{"module": "provider-openai-chat", "config": config}]}
        agent = Agent(plan=plan, tools=[look], budget=Budget(tokens=2_000))
        result = await agent.run("Find it")
    assert result.status == "limit"
    assert len(server.requests) == 1
    assert result.usage.total >= 0


class Foreign(BaseProvider):
    """A provider of others: it calls a tool each time, and reports what it likes."""

    name = "foreign"

    def __init__(self, usage: Any) -> None:
        self.usage = usage
        self.calls = 0

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        self.calls += 1
        call = ToolCall(id=f"call-{self.calls}", name="look", arguments={"page": self.calls})
        response = ChatResponse(content=[TextBlock(text="I look.")], tool_calls=[call])
        return response.model_copy(update={"usage": self.usage})


USAGES: list[Any] = [
    None,
    {},
    "many",
    Usage.model_construct(input_tokens=-1_000, output_tokens=-500, total_tokens=-1_500),
    Usage.model_construct(input_tokens=None, output_tokens=None, total_tokens=None),
    Usage(input_tokens=-1_000, output_tokens=0, total_tokens=-1_000, cost_usd=Decimal(-1)),
]


# Holds: agent-41
@pytest.mark.parametrize("engine", [amplifier_core, plain], ids=["rust", "python"])
@pytest.mark.parametrize("usage", USAGES, ids=repr)
async def test_usage_that_a_provider_does_not_count_uses_a_budget_of_tokens_up(
    engine: Any, usage: Any
) -> None:
    loop = {"module": "loop-basic", "config": {"budget": {"tokens": 2_000}}}
    session = engine.AmplifierSession(
        {"session": {"orchestrator": loop, "context": "context-simple"}, "providers": []}
    )
    model = Foreign(usage)
    async with session:
        await session.initialize()
        await session.coordinator.mount("providers", model, name="foreign")
        await session.execute("Find it")
    assert 1 < model.calls < 60


# Holds: agent-41
async def test_two_counts_at_the_end_of_what_a_count_may_be_lose_no_answer() -> None:
    most = 2**63 - 1
    usage = {"prompt_tokens": most, "completion_tokens": most, "total_tokens": most}
    with ChatServer([answer_with(usage), answer_with(usage), "Found."]) as server:
        config = {"api_key": "key", "base_url": server.url, "default_model": "gpt-4.1"}
        plan = {"providers": [{"module": "provider-openai-chat", "config": config}]}
        result = await Agent(plan=plan, tools=[look]).run("Find it")
    assert (result.status, result.usage.total) == ("completed", most)


async def test_negative_counts_of_a_service_cost_no_less_than_nothing() -> None:
    usage = {"prompt_tokens": -1_000, "completion_tokens": -500, "total_tokens": -1_500}
    with ChatServer([answer_with(usage)] * 60) as server:
        config = {
            "api_key": "key",
            "base_url": server.url,
            "default_model": "gpt-4.1",
            "prices": {"gpt": {"input": 1, "output": 2}},
        }
        plan = {"providers": [{"module": "provider-openai-chat", "config": config}]}
        agent = Agent(plan=plan, tools=[look], budget=Budget(cost=Decimal("0.01")))
        result = await agent.run("Find it")
    assert (result.status, result.cost) == ("limit", None)
    assert len(server.requests) <= 2
