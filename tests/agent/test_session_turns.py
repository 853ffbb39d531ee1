"""Turns of a session: they queue, are cancelled, run foreign loops and end within their budgets."""

from __future__ import annotations

import sys
import threading
from enum import Enum
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from amplifier_agent import (
    Agent,
    BaseProvider,
    Budget,
    Result,
    ScriptedProvider,
    StatusError,
    ToolContext,
    hook,
    tool,
)
from amplifier_core import ChatRequest, ChatResponse
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import Usage
from amplifier_modules.loops.basic import BasicLoop

sys.path.insert(0, str(Path(__file__).parent))
from adding import add, asks_to_add


@tool
async def sleep() -> None:
    """Sleep for ever."""
    await anyio.sleep_forever()


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
