"""The warning at 80 % of the seconds of a turn, on a clock that jumps."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio
from pydantic import BaseModel

from amplifier_agent import Agent, BaseProvider, Budget, ScriptedProvider, hook, tool
from amplifier_core import ChatRequest, ChatResponse, TextBlock, world
from amplifier_core.event_loop import find_asyncio_task

sys.path.insert(0, str(Path(__file__).parent))
from virtual_time import BACKENDS, LoopWorld


@pytest.fixture(params=sorted(BACKENDS))
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return BACKENDS[request.param]()


@pytest.fixture(autouse=True)
def jumping_clock() -> Generator[None]:
    with world.use(LoopWorld()):
        yield


class Slow(BaseProvider):
    """Answers after some seconds."""

    name = "slow"

    def __init__(self, seconds: float, text: str = "done") -> None:
        self._seconds = seconds
        self._text = text

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        await anyio.sleep(self._seconds)
        return ChatResponse(content=[TextBlock(text=self._text)])


class Told:
    """The warnings, with the seconds at which they came, and what they say was used."""

    def __init__(self, handling_seconds: float = 0) -> None:
        self.began = anyio.current_time()
        self.warnings: list[tuple[float, str, float, float]] = []
        self.handled = 0

        @hook("budget:warning")
        async def note(event: str, data: dict[str, Any]) -> None:
            used = data["kind"], round(data["used"], 6), data["limit"]
            self.warnings.append((self.now, *used))
            await anyio.sleep(handling_seconds)
            self.handled += 1

        self.hook = note

    @property
    def now(self) -> float:
        return round(anyio.current_time() - self.began, 6)


@tool
async def work() -> str:
    """Work for long."""
    await anyio.sleep(60)
    return "worked"


def block(seconds: float) -> None:
    """Let time pass while nothing else can run, as `time.sleep` does in an async tool."""
    if find_asyncio_task() is None:
        trio.lowlevel.current_clock().jump(seconds)  # pyright: ignore
    else:
        asyncio.get_running_loop()._jumping.jumped += seconds  # pyright: ignore


@tool
async def block_loop() -> str:
    """Keep the event loop for a minute."""
    block(60)
    return "blocked"


@tool(is_loop_breaking=True)
async def block_and_end() -> str:
    """Keep the event loop for a minute, and end the turn."""
    block(60)
    return "the end"


# Holds: sink-39
@pytest.mark.parametrize("name", ["block_loop", "block_and_end"])
@pytest.mark.parametrize("streams", [False, True])
async def test_a_tool_that_keeps_the_event_loop_past_the_limit_ends_the_turn(
    name: str, streams: bool
) -> None:
    model = ScriptedProvider([{"tool": name}, "done"])
    agent = Agent(
        model,
        tools=[block_loop, block_and_end],
        budget=Budget(seconds=10),
        loop="loop-streaming" if streams else "loop-basic",
    )
    result = await agent.run("go")
    assert (result.status, result.reason) == ("limit", "the budget of 10 s is used up")
    assert len(model.requests) == 1


# Holds: sink-39
async def test_the_next_call_does_not_begin_after_one_that_kept_the_event_loop() -> None:
    ran: list[int] = []

    @tool
    async def work_for_long(x: int) -> str:
        """Keep the event loop."""
        ran.append(x)
        block(60)
        return "blocked"

    calls = [{"tool": "work_for_long", "arguments": {"x": x}} for x in (1, 2)]
    model = ScriptedProvider([calls, "done"])
    agent = Agent(model, tools=[work_for_long], budget=Budget(seconds=10))
    assert (await agent.run("go")).status == "limit"
    assert (len(ran), len(model.requests)) == (1, 1)


async def test_a_tool_that_keeps_the_event_loop_within_the_limit_changes_nothing() -> None:
    model = ScriptedProvider([{"tool": "block_loop"}, "done"])
    agent = Agent(model, tools=[block_loop], budget=Budget(seconds=61))
    assert (await agent.run("go")).text == "done"


# Holds: agent-46
@pytest.mark.parametrize("seconds", [10, 0.3, 1.7])
async def test_it_comes_in_the_middle_of_a_model_call(seconds: float) -> None:
    told = Told()
    agent = Agent(Slow(60), hooks=[told.hook], budget=Budget(seconds=seconds))
    assert (await agent.run("go")).status == "limit"
    assert told.now == seconds
    [(now, *used)] = told.warnings
    assert now == pytest.approx(seconds * 0.8, abs=0.002)
    assert used == ["seconds", now, seconds]


# Holds: agent-46
async def test_it_comes_in_the_middle_of_a_tool() -> None:
    told = Told()
    model = ScriptedProvider([{"tool": "work"}, "done"])
    agent = Agent(model, tools=[work], hooks=[told.hook], budget=Budget(seconds=70))
    assert (await agent.run("go")).text == "done"
    assert told.warnings == [(56, "seconds", 56, 70)]


# Holds: agent-46
async def test_a_turn_that_ends_earlier_has_none_and_does_not_wait_for_it() -> None:
    told = Told()
    agent = Agent(Slow(7.9), hooks=[told.hook], budget=Budget(seconds=10))
    assert (await agent.run("go")).status == "completed"
    assert told.now == 7.9
    await anyio.sleep(100)
    assert told.warnings == []


async def test_each_run_of_a_session_has_its_own() -> None:
    told = Told()
    agent = Agent(Slow(9), hooks=[told.hook], budget=Budget(seconds=10))
    async with agent.session() as session:
        for _ in range(2):
            assert (await session.run("go")).status == "completed"
    assert told.warnings == [(8, "seconds", 8, 10), (17, "seconds", 8, 10)]


# Holds: agent-44
async def test_the_seconds_of_a_shared_budget_are_those_of_its_turns_and_warn_once() -> None:
    told = Told()
    agent = Agent(Slow(6), hooks=[told.hook], budget=Budget(seconds=10).shared())
    async with agent.session() as session:
        first = await session.run("go")
        await anyio.sleep(100)
        second = await session.run("go")
    assert (first.status, second.status) == ("completed", "limit")
    assert second.reason == "the shared budget of 10 s is used up"
    assert told.warnings == [(108, "seconds", 8, 10)]
    assert told.now == 110


async def test_a_handler_that_takes_longer_than_the_turn_ends_with_it() -> None:
    told = Told(handling_seconds=60)
    agent = Agent(Slow(9), hooks=[told.hook], budget=Budget(seconds=10))
    assert (await agent.run("go")).status == "completed"
    assert told.now == 9
    await anyio.sleep(100)
    assert (len(told.warnings), told.handled) == (1, 0)


async def test_of_a_turn_and_the_sub_agents_in_it_each_limit_is_told_once() -> None:
    told = Told()

    ask = {"tool": "expert", "arguments": {"prompt": "go"}}
    expert = Agent(Slow(9), hooks=[told.hook], budget=Budget(seconds=10))
    agent = Agent(
        ScriptedProvider([[ask, ask], "done"]),
        tools=[expert.as_tool("expert", "Knows more.")],
        hooks=[told.hook],
        budget=Budget(seconds=11.25),
    )
    assert (await agent.run("go")).text == "done"
    assert told.warnings == [
        (8, "seconds", 8, 10),
        (8, "seconds", 8, 10),
        (9, "seconds", 9, 11.25),
    ]


async def test_it_comes_also_where_an_answer_of_a_type_is_wanted() -> None:
    class Page(BaseModel):
        number: int

    told = Told()
    model = Slow(9, '{"number": 3}')
    agent = Agent(model, hooks=[told.hook], budget=Budget(seconds=10, model_calls=1), output=Page)
    assert (await agent.run("go")).value == Page(number=3)
    assert told.warnings == [(8, "seconds", 8, 10), (9, "model_calls", 1, 1)]


async def test_without_a_budget_of_seconds_there_is_no_timer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> Any:
        raise AssertionError

    monkeypatch.setattr("amplifier_modules.loops.pace.find_together", refuse)
    for budget in (None, Budget(tokens=10_000)):
        assert (await Agent(Slow(1), budget=budget).run("go")).status == "completed"
