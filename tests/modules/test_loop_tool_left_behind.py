"""A tool that ignores its cancellation is left behind: it can neither hold a turn nor change it."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.events import TOOL_ERROR, TOOL_POST
from amplifier_core.interruption import Interruption
from amplifier_modules.loops.boundary import cancellation
from amplifier_modules.loops.tool_calls import INTERRUPTED

ENDS = ["never", "returns", "raises", "exits"]
"""What a tool does that has ignored its cancellation, once it is let go."""


class Stubborn:
    """A tool that ignores every cancellation until it is let go."""

    def __init__(self, end: str) -> None:
        self.end = end
        self.is_running = asyncio.Event()
        self.go = asyncio.Event()
        self.is_over = asyncio.Event()

    async def __call__(self, given: object) -> str:
        self.is_running.set()
        while not self.go.is_set():
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                continue
        self.is_over.set()
        if self.end == "raises":
            raise ValueError("late")
        if self.end == "exits":
            raise SystemExit(3)
        return "late"

    async def let_go(self) -> list[object]:
        """Have it end; return what the event loop complains about."""
        unexpected: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda *found: unexpected.append(found))
        if self.end != "never":
            self.go.set()
            await self.is_over.wait()
            await asyncio.sleep(0)
        return unexpected


def contents(history):
    return [message["content"] for message in history if message["role"] == "tool"]


@pytest.fixture(autouse=True)
def short_grace(monkeypatch):
    monkeypatch.setattr(cancellation, "LEAVE_SECONDS", 0.01)


async def test_a_time_limit_within_a_tool_begins_no_grace(bench, say):
    async def limited(given: object) -> str:
        with Interruption(seconds=0.01):
            try:
                await asyncio.Event().wait()
            finally:
                for _ in range(20):
                    await asyncio.sleep(0.01)  # together longer than the grace
        return "as much as there was time for"

    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", limited)

    assert await asyncio.wait_for(turn.run(), 60) == "done"
    assert contents(await turn.history()) == ["as much as there was time for"]


# Holds: sink-40
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("count", [1, 2])
async def test_at_its_time_limit(bench, say, valid, end, count):
    calls = say.calls(*[("1", "hang", {}), ("2", "look", {})][:count])
    turn = bench("basic", calls, say.text("done"), config={"tool_timeout": 0.01})
    stubborn = Stubborn(end)
    turn.tool("hang", stubborn)
    turn.tool("look", lambda given: "seen")

    assert await asyncio.wait_for(turn.run(), 60) == "done"
    assert await stubborn.let_go() == []
    history = await turn.history()
    valid(history)
    text = "tool `hang` was ended after 0.01 s, the time limit of tools; its effects are unknown"
    assert contents(history) == [f"Error: {text}", "seen"][:count]
    assert [each["error"]["type"] for each in turn.data(TOOL_ERROR)] == ["ToolTimeoutError"]
    assert turn.token.running_tools == set()


# Holds: sink-40
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("limit", [None, 3600])
async def test_when_the_turn_is_cancelled(bench, say, valid, caplog, end, count, limit):
    calls = say.calls(*((str(number), "hang", {}) for number in range(count)))
    turn = bench("basic", calls, config={"tool_timeout": limit} if limit else None)
    stubborn = Stubborn(end)
    turn.tool("hang", stubborn)
    running = asyncio.create_task(turn.run())
    await stubborn.is_running.wait()

    turn.token.request_immediate()
    assert await asyncio.wait_for(running, 60) == ""
    assert await stubborn.let_go() == []
    history = await turn.history()
    valid(history)
    assert contents(history) == [INTERRUPTED.content] * count
    assert turn.data(TOOL_POST) == []
    assert turn.token.running_tools == set()
    about = "tool `hang` ignores its cancellation"
    assert caplog.messages.count(f"{about}; it is left behind, and its result is ignored") == count


async def test_a_tool_that_cleans_up_is_waited_for(bench, say, monkeypatch):
    monkeypatch.setattr(cancellation, "LEAVE_SECONDS", 60)
    turn = bench(
        "basic", say.calls(("1", "hang", {})), say.text("done"), config={"tool_timeout": 0.01}
    )
    steps = []

    async def hang(given):
        try:
            await asyncio.Event().wait()
        finally:
            for step in range(20):
                await asyncio.sleep(0)
                steps.append(step)

    turn.tool("hang", hang)
    turn.provider.script[1] = lambda request: steps.append("asked") or say.text("done")

    await turn.run()
    assert steps == [*range(20), "asked"]


# Holds: agent-50
async def test_an_answer_that_is_left_behind_tells_no_more_of_itself(bench):
    let_go = asyncio.Event()

    class Stream:
        name = "stream"

        async def stream(self, request, tools, **options):
            yield 'so <tool>{"tool_name": "look", "arguments": {}}</tool>'
            await asyncio.Event().wait()

    async def cancel(event: str, data: object) -> None:
        turn.token.request_immediate()
        await asyncio.Event().wait()

    async def slow(event: str, data: dict[str, object]) -> None:
        if data["block_index"] == 1:
            await let_go.wait()

    turn = bench("tagged")
    turn.provider = Stream()
    turn.tool("look", lambda given: "seen")
    turn.hook("agent:tool_call_start", cancel)
    turn.hook("content_block:start", slow)
    await asyncio.wait_for(turn.run(), 60)
    told = turn.names()
    let_go.set()
    for _ in range(100):
        await asyncio.sleep(0)
    assert turn.names() == told
    blocks = [
        (name, data["block_index"]) for name, data in turn.events if name.startswith("content_")
    ]
    assert blocks == [
        ("content_block:start", 0), ("content_block:delta", 0), ("content_block:end", 0),
        ("content_block:start", 1), ("content_block:end", 1),
    ]  # fmt: skip
