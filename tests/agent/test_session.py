"""Turns of agents and sessions: what a result says, and how turns are cancelled and limited."""

from __future__ import annotations

import json
import logging
import pickle
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from amplifier_agent import (
    Agent,
    Budget,
    Result,
    ScriptedProvider,
    StatusError,
    TokenUsage,
    ToolContext,
    hook,
    tool,
)
from amplifier_core import ChatResponse, HookResult
from amplifier_core.message_models import TextBlock, Usage
from amplifier_core.models import ApprovalRequest, ApprovalResponse

sys.path.insert(0, str(Path(__file__).parent))
from adding import add, asks_to_add


class City(BaseModel):
    name: str
    country: str = "France"


class Cart:
    def __init__(self) -> None:
        self.items: list[str] = []


def without_times(messages: Any) -> list[Any]:
    return [{key: value for key, value in each.items() if key != "metadata"} for each in messages]


async def test_a_result_tells_the_whole_turn() -> None:
    model = ScriptedProvider([asks_to_add(a="2"), "It is three."])
    result = await Agent(model, tools=[add], system="Be brief.").run("2 + 1?")
    assert (result.text, result.status, result.reason) == ("It is three.", "completed", None)
    assert (result.stop_reason, result.model_calls, result.tool_calls) == ("end_turn", 2, 1)
    assert result.raise_for_status() is result
    assert without_times(result.messages) == [
        {"role": "user", "content": "2 + 1?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_call", "id": "call_1", "name": "add", "input": {"a": "2"}}],
            "tool_calls": [{"id": "call_1", "tool": "add", "arguments": {"a": "2"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "name": "add", "content": "3"},
        {"role": "assistant", "content": [{"type": "text", "text": "It is three."}]},
    ]
    assert [request.messages[0].content for request in model.requests] == ["Be brief."] * 2
    assert pickle.loads(pickle.dumps(result)) == result
    assert json.loads(json.dumps(result.to_dict()))["usage"]["total"] == result.usage.total


# Holds: agent-2
async def test_tokens_are_counted_once_each() -> None:
    usage = Usage(
        input_tokens=100, output_tokens=30, total_tokens=130, reasoning_tokens=10,
        cache_read_tokens=60, cache_write_tokens=15, cost_usd=Decimal("0.5"),
    )  # fmt: skip
    answer = ChatResponse(content=[TextBlock(text="hi")], usage=usage)
    result = await Agent(ScriptedProvider([answer])).run("hi")
    assert result.usage == TokenUsage(
        input=25, cache_read=60, cache_write=15, output=20, reasoning=10
    )
    assert result.usage.total == 130
    assert (result.usage + result.usage).total == 260
    assert result.cost == Decimal("0.5")


# Holds: agent-2
async def test_a_cost_without_a_price_is_none_and_not_zero() -> None:
    priced = Usage(input_tokens=1, output_tokens=1, total_tokens=2, cost_usd=Decimal(1))
    script = [ChatResponse(content=[], tool_calls=None, usage=priced), "free"]
    async with Agent(ScriptedProvider(script)).session() as session:
        assert (await session.run("a")).cost == Decimal(1)
        assert (await session.run("b")).cost is None


# Holds: agent-1
@pytest.mark.parametrize(
    ("word", "status", "reason"),
    [
        ("max_tokens", "truncated", "the answer was cut short (`max_tokens`)"),
        ("length", "truncated", "the answer was cut short (`length`)"),
        ("refusal", "denied", "the model refused (`refusal`)"),
        ("content_filter", "denied", "the model refused (`content_filter`)"),
        ("stop", "completed", None),
    ],
)
async def test_a_cut_answer_or_a_refusal_is_never_taken_for_an_answer(
    word: str, status: str, reason: str | None
) -> None:
    answer = ChatResponse(content=[TextBlock(text="part")], finish_reason=word)
    result = await Agent(ScriptedProvider([answer])).run("hi")
    assert (result.status, result.reason, result.stop_reason) == (status, reason, word)
    assert result.text == ("" if status == "denied" else "part")


# Holds: agent-1
@pytest.mark.parametrize("event", ["prompt:submit", "provider:request"])
async def test_a_turn_that_hooks_refuse_is_denied(event: str) -> None:
    @hook(event)
    def refuse(_event: str, _data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="not today")

    result = await Agent(ScriptedProvider(["never"]), hooks=[refuse]).run("hi")
    assert (result.text, result.status) == ("", "denied")
    assert result.reason in {
        "the prompt was refused: not today",
        "a model call was refused: not today",
    }
    with pytest.raises(StatusError, match=r"the turn ended as `denied`: .* was refused: not today"):
        result.raise_for_status()


async def test_a_judge_that_raises_denies() -> None:
    @hook("tool:pre")
    def broken(_event: str, _data: dict[str, Any]) -> None:
        raise ValueError("oops")

    model = ScriptedProvider([asks_to_add(a=1), "done"])
    await Agent(model, tools=[add], hooks=[broken]).run("hi")
    assert "Denied by hook" in str(model.requests[1].messages[-1].content)


async def test_the_original_error_comes_through_and_the_turn_is_kept() -> None:
    async with Agent(ScriptedProvider([KeyError("gone"), "again"])).session() as session:
        with pytest.raises(KeyError, match="gone"):
            await session.run("hi")
        assert session.last is not None
        assert (session.last.status, session.last.reason) == ("error", "'gone'")
        assert (await session.run("hi")).text == "again"


async def test_a_session_remembers() -> None:
    model = ScriptedProvider(["one", "two"])
    async with Agent(model).session(session_id="mine") as session:
        await session.run("a")
        result = await session.run("b")
    assert session.id == result.session_id == "mine"
    assert [
        message.content for message in model.requests[1].messages if message.role == "user"
    ] == [
        "a",
        "b",
    ]


async def test_a_conversation_goes_on_from_messages() -> None:
    first = await Agent(ScriptedProvider([asks_to_add(a=1), "two"]), tools=[add]).run("1 + 1?")
    model = ScriptedProvider(["yes"])
    second = await Agent(model).run("Sure?", messages=first.messages)
    assert without_times(second.messages)[:4] == without_times(first.messages)


async def test_a_call_without_a_result_is_repaired_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = await Agent(ScriptedProvider([asks_to_add(a=1), "two"]), tools=[add]).run("1 + 1?")
    model = ScriptedProvider(["yes"])
    with caplog.at_level(logging.WARNING):
        await Agent(model).run("Sure?", messages=first.messages[:2])
    assert [message.role for message in model.requests[0].messages] == [
        "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert [record.getMessage() for record in caplog.records] == [
        "1 tool calls of the given `messages` had no result and got a synthetic one"
    ]


async def test_a_tool_finds_the_state_of_its_session() -> None:
    @tool
    def put(context: ToolContext[Cart], item: str) -> str:
        context.state.items.append(item)
        return context.key

    cart = Cart()
    model = ScriptedProvider([{"tool": "put", "arguments": {"item": "tea"}}, "done"])
    async with Agent(model, tools=[put]).session(state=cart, session_id="s") as session:
        await session.run("buy")
    assert cart.items == ["tea"]
    assert model.requests[1].messages[-1].content == "s/call_1"


async def test_an_agent_as_a_tool_shares_state_budget_and_counts() -> None:
    seen: list[Any] = []

    @tool
    def look(context: ToolContext) -> str:
        seen.append(context.state)
        return "seen"

    reader = Agent(ScriptedProvider([{"tool": "look"}, "42"]), tools=[look])
    model = ScriptedProvider([{"tool": "read", "arguments": {"prompt": "how many?"}}, "It is 42."])
    lead = Agent(model, tools=[reader.as_tool("read", "Reads.")])
    result = await lead.run("go", state="shared")
    assert (result.text, result.model_calls, result.tool_calls) == ("It is 42.", 4, 2)
    assert seen == ["shared"]
    assert model.requests[1].messages[-1].content == "42"


async def test_a_sub_agent_that_did_not_finish_is_an_error_of_the_tool() -> None:
    reader = Agent(ScriptedProvider([asks_to_add(a=1), "part"]), tools=[add])
    model = ScriptedProvider([{"tool": "read", "arguments": {"prompt": "?"}}, "sorry"])
    lead = Agent(model, tools=[reader.as_tool("read", "Reads.")], budget=Budget(tool_calls=1))
    result = await lead.run("go")
    assert isinstance(result, Result)
    told = str(model.requests[1].messages[-1].content) if len(model.requests) > 1 else ""
    assert "ended as `limit`" in told


async def test_a_thousand_sessions_run_at_the_same_time() -> None:
    agent = Agent(ScriptedProvider(["one answer"], repeat=True))
    texts: list[str] = []

    async def ask() -> None:
        texts.append((await agent.run("hi")).text)

    async with anyio.create_task_group() as group:
        for _ in range(1000):
            group.start_soon(ask)
    assert texts == ["one answer"] * 1000


async def test_an_approval_system_and_an_approval_provider_answer_too() -> None:
    @tool(needs_approval=True)
    def wipe(path: str) -> str:
        return f"{path} is gone"

    class System:
        async def request_approval(
            self,
            prompt: str,
            options: list[str],
            timeout: float,  # noqa: ASYNC109 -- of the protocol
            default: str,
        ) -> str:
            return "Allow"

    class Provider:
        async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
            return ApprovalResponse(approved="wipe" in request.action)

    for approvals in (System(), Provider()):
        model = ScriptedProvider([{"tool": "wipe", "arguments": {"path": "old"}}, "ok"])
        agent = Agent(model, tools=[wipe], approvals=approvals)  # pyright: ignore[reportArgumentType] -- `default` is text here
        await agent.run("go")
        assert model.requests[1].messages[-1].content == "old is gone"
