"""Turns of agents and sessions: what a result says, and how turns are cancelled and limited."""

from __future__ import annotations

import json
import logging
import pickle
import threading
from decimal import Decimal
from enum import Enum
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from amplifier_agent import (
    Agent,
    BaseProvider,
    Budget,
    Result,
    ScriptedProvider,
    StatusError,
    TokenUsage,
    ToolContext,
    hook,
    tool,
)
from amplifier_core import ChatRequest, ChatResponse, HookResult
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import TextBlock, Usage
from amplifier_core.models import ApprovalRequest, ApprovalResponse
from amplifier_modules.loops.basic import BasicLoop


class City(BaseModel):
    name: str
    country: str = "France"


class Cart:
    def __init__(self) -> None:
        self.items: list[str] = []


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
async def sleep() -> None:
    """Sleep for ever."""
    await anyio.sleep_forever()


def asks_to_add(**arguments: Any) -> dict[str, Any]:
    return {"tool": "add", "arguments": arguments}


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


# Holds: agent-1
async def test_a_cancelled_turn_keeps_what_there_is_and_the_next_one_runs() -> None:
    model = ScriptedProvider([{"tool": "sleep"}, "Hello!"])
    async with Agent(model, tools=[sleep]).session() as session:
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_when_running, session)
            result = await session.run("wait")
        assert (result.status, result.reason) == ("cancelled", "the turn was cancelled")
        assert result.messages[-1]["role"] == "assistant"
        assert (await session.run("Hi")).text == "Hello!"


class Endless(BaseProvider):
    """Says two words and stops there; inside `chunks`, or by block events of its own."""

    name = "endless"

    def __init__(self, hooks: Any = None) -> None:
        self.hooks = hooks

    async def chunks(self, request: ChatRequest, **options: Any) -> Any:
        yield "one "
        yield "two "
        await anyio.sleep_forever()


class EndlessWithEvents(Endless):
    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        for index, (kind, text) in enumerate(
            [("thinking", "hm"), ("text", "one "), ("text", "two ")]
        ):
            delta = {"block_type": kind, "block_index": index, "delta": text}
            await self.hooks.emit("content_block:delta", delta)
        return await anyio.sleep_forever()

    stream: Any = None


@pytest.mark.parametrize("kind", [Endless, EndlessWithEvents])
async def test_what_the_model_has_said_is_kept_where_a_turn_ends_before_its_answer(
    kind: type[Endless],
) -> None:
    model = kind()
    async with Agent(model).session() as session:
        model.hooks = session.session.coordinator.hooks
        async with anyio.create_task_group() as group:

            async def cancel() -> None:
                while session.record.unfinished != "one two ":
                    await anyio.lowlevel.checkpoint()
                session.cancel()

            group.start_soon(cancel)
            result = await session.run("count")
        assert (result.status, result.text) == ("cancelled", "one two ")


class EndlessAfterARetry(Endless):
    cancel: Any

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        place = {"block_type": "text", "block_index": 0}
        await self.hooks.emit("content_block:delta", {**place, "delta": "lost "})
        await self.hooks.emit("content_block:end", {**place, "dropped": True})
        await self.hooks.emit("content_block:delta", {**place, "delta": "kept"})
        self.cancel()
        return await anyio.sleep_forever()

    stream: Any = None


async def test_what_a_provider_took_back_is_not_kept() -> None:
    model = EndlessAfterARetry()
    async with Agent(model).session() as session:
        model.hooks = session.session.coordinator.hooks
        model.cancel = session.cancel
        result = await session.run("count")
    assert (result.status, result.text) == ("cancelled", "kept")


async def test_a_hook_of_the_first_event_does_not_hold_a_cancel() -> None:
    @hook("session:start")
    async def waits(event: str, data: dict[str, Any]) -> None:
        session.cancel()
        await anyio.sleep_forever()

    async with Agent(ScriptedProvider(["Hello!"]), hooks=[waits]).session() as session:
        result = await session.run("hi")
        assert (result.status, result.text, result.model_calls) == ("cancelled", "", 0)
        assert (await session.run("hi")).text == "Hello!"


async def test_a_budget_holds_with_a_loop_that_was_given_as_an_object() -> None:
    model = ScriptedProvider([asks_to_add(a=1), "so far"])
    agent = Agent(model, tools=[add], loop=BasicLoop(), budget=Budget(model_calls=1))
    assert (await agent.run("go")).status == "limit"


async def test_a_loop_that_is_not_ours_is_refused_what_it_would_ignore() -> None:
    @tool(needs_approval=True)
    def wipe() -> str:
        return "gone"

    loop: Any = ForeignLoop()
    agent = Agent("demo", loop=loop, approvals=lambda _question: True)
    with pytest.raises(ConfigurationError, match="the loop `foreign` keeps no budget"):
        await agent.replace(budget=Budget()).run("go")
    with pytest.raises(ConfigurationError, match="the loop `foreign` keeps no budget"):
        await agent.run("go", budget=Budget())
    with pytest.raises(ConfigurationError, match="tool `wipe` needs approval, and the loop"):
        await agent.replace(tools=[wipe]).run("go")
    assert loop.turns == 0


class ForeignLoop:
    """A loop that knows nothing of cancellation, and waits in its first turn."""

    name = "foreign"

    def __init__(self) -> None:
        self.waits = anyio.Event()
        self.turns = 0

    async def execute(self, prompt: str, **_parts: Any) -> str:
        self.turns += 1
        if self.turns == 1:
            self.waits.set()
            await anyio.sleep_forever()
        return "Hello!"


async def test_a_turn_of_a_foreign_loop_is_cancelled_too() -> None:
    loop: Any = ForeignLoop()
    async with Agent("demo", loop=loop).session() as session:

        async def cancel() -> None:
            await loop.waits.wait()
            session.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            result = await session.run("wait")
        assert (result.status, result.text) == ("cancelled", "")
        assert (await session.run("Hi")).text == "Hello!"


class Word(Enum):
    ERROR = "error"
    LENGTH = "length"
    SUCCESS = "success"


class LoopWithObjects:
    """A loop whose events have models and enumerations in the place of JSON."""

    name = "objects"

    async def execute(self, prompt: str, *, hooks: Any, **_parts: Any) -> str:
        usage = Usage(input_tokens=5, output_tokens=2, total_tokens=7, cache_read_tokens=1)
        response = {"provider": "p", "usage": usage, "finish_reason": Word.LENGTH}
        await hooks.emit("provider:response", response)
        await hooks.emit("provider:response", {"status": Word.ERROR})
        await hooks.emit("tool:post", {"result": usage})
        ending = {"status": Word.SUCCESS}
        await hooks.emit("orchestrator:complete", ending)
        ending["status"] = Word.ERROR
        return "Hel"


async def test_events_with_objects_count_like_those_with_json() -> None:
    loop: Any = LoopWithObjects()
    result = await Agent("demo", loop=loop).run("hi")
    assert (result.status, result.stop_reason) == ("truncated", "length")
    assert (result.usage.input, result.usage.cache_read, result.usage.output) == (4, 1, 2)
    assert (result.model_calls, result.tool_calls) == (1, 1)


async def test_an_outside_cancellation_is_not_swallowed() -> None:
    loop: Any = ForeignLoop()
    async with Agent("demo", loop=loop).session() as session:
        with anyio.CancelScope() as scope:

            async def cancel() -> None:
                await loop.waits.wait()
                scope.cancel()

            async with anyio.create_task_group() as group:
                group.start_soon(cancel)
                await session.run("wait")
        assert scope.cancelled_caught
        assert session.last is not None
        assert session.last.status == "cancelled"


async def _cancel_when_running(session: Any) -> None:
    while not session.session.coordinator.cancellation.running_tools:
        await anyio.lowlevel.checkpoint()
    thread = threading.Thread(target=session.cancel)
    thread.start()
    await anyio.to_thread.run_sync(thread.join)


async def test_cancelling_an_idle_session_does_nothing() -> None:
    async with Agent(ScriptedProvider(["a"])).session() as session:
        session.cancel()
        assert (await session.run("hi")).status == "completed"


async def test_turns_queue_in_the_order_in_which_they_were_asked_for() -> None:
    model = ScriptedProvider([str(number) for number in range(5)], delay=0.001)
    texts: list[str] = []
    async with Agent(model).session() as session:

        async def ask(number: int) -> None:
            texts.append((await session.run(str(number))).text)

        async with anyio.create_task_group() as group:
            for number in range(5):
                group.start_soon(ask, number)
                await anyio.lowlevel.checkpoint()
    assert texts == ["0", "1", "2", "3", "4"]
    asked = [message.content for message in model.requests[-1].messages if message.role == "user"]
    assert asked == ["0", "1", "2", "3", "4"]


async def test_a_turn_cannot_wait_for_itself() -> None:
    caught: list[str] = []

    @tool
    async def again(context: ToolContext) -> str:
        try:
            await session.run("again")
        except RuntimeError as error:
            caught.append(str(error))
        return "no"

    async with Agent(
        ScriptedProvider([{"tool": "again"}, "ok"]), tools=[again]
    ).session() as session:
        await session.run("go")
    assert caught == ["`run` was called from a turn of the same session, which it waits for"]


async def test_a_session_is_used_within_its_block() -> None:
    session = Agent(ScriptedProvider(["a"])).session()
    with pytest.raises(RuntimeError, match="the session is not open"):
        await session.run("hi")
    async with session:
        await session.run("hi")
    with pytest.raises(RuntimeError, match="the session is not open"):
        await session.run("hi")


async def test_a_budget_ends_a_turn_and_the_next_one_goes_on() -> None:
    model = ScriptedProvider([asks_to_add(a=1), "so far", "more"])
    agent = Agent(model, tools=[add], budget=Budget(model_calls=1))
    async with agent.session() as session:
        result = await session.run("go")
        assert (result.status, result.text) == ("limit", "so far")
        assert result.reason == "the budget of 1 model call is used up"
        assert (await session.run("on", budget=Budget(model_calls=5))).status == "completed"


async def test_equal_errors_end_a_turn_and_the_next_one_goes_on() -> None:
    @tool
    def look(path: str) -> str:
        """Look."""
        raise FileNotFoundError(path)

    call = {"tool": "look", "arguments": {"path": "a"}}
    agent = Agent(ScriptedProvider([*[call] * 5, "Hello!"]), tools=[look])
    async with agent.session() as session:
        result = await session.run("go")
        assert (result.status, result.model_calls, result.tool_calls) == ("error", 5, 5)
        assert result.reason == (
            "the same call of `look` failed 5 times in a row: FileNotFoundError: a"
        )
        with pytest.raises(StatusError, match="`look` failed 5 times"):
            result.raise_for_status()
        assert (await session.run("Hi")).text == "Hello!"


async def test_a_budget_of_cost_needs_a_provider_that_tells_costs() -> None:
    model = ScriptedProvider(["a", "b"])
    with pytest.raises(ConfigurationError) as caught:
        await Agent(model, budget=Budget(cost=1)).run("go")
    assert str(caught.value) == (
        "the budget has a `cost`, and `scripted` does not tell what a call costs"
    )
    async with Agent(model).session() as session:
        with pytest.raises(ConfigurationError):
            await session.run("go", budget=Budget(cost=1))
        model.reports_cost = True
        assert (await session.run("go", budget=Budget(cost=1))).text == "a"


async def test_a_task_that_outlives_its_turn_can_run_the_session() -> None:
    over = anyio.Event()
    later: list[Result[None]] = []

    async def go_on() -> None:
        await over.wait()
        later.append(await session.run("later"))

    async with anyio.create_task_group() as group:

        @tool
        async def begin() -> str:
            group.start_soon(go_on)
            return "begun"

        model = ScriptedProvider([{"tool": "begin"}, "one", "two"])
        agent = Agent(model, tools=[begin], budget=Budget(model_calls=2))
        async with agent.session() as session:
            assert (await session.run("go")).text == "one"
            over.set()
            while not later:
                await anyio.lowlevel.checkpoint()
    assert (later[0].text, later[0].status) == ("two", "completed")


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
