"""Tools that wait for nothing need no task of their own; those that wait have one from the start."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import anyio
import pytest

PLACE: ContextVar[str] = ContextVar("place", default="outside")


@pytest.fixture
def anyio_backend():
    return "asyncio"


def results(history):
    return [message["content"] for message in history if message["role"] == "tool"]


def asks(say, *names):
    return say.calls(*[(str(1 + index), name, {}) for index, name in enumerate(names)])


async def test_tools_that_wait_for_nothing_share_a_task_that_is_not_the_turns(bench, say):
    turn = bench("basic", asks(say, *["look"] * 20), say.text("done"))
    tasks = []
    turn.tool("look", lambda given: tasks.append(asyncio.current_task()))
    assert await turn.run() == "done"
    assert (len(tasks), len(set(tasks))) == (20, 1)
    assert asyncio.current_task() not in tasks


async def test_a_tool_that_waits_has_its_task_from_its_first_step_on(bench, say):
    turn = bench("basic", asks(say, *["wait"] * 3), say.text("done"))
    before, after = [], []

    async def wait(given):
        before.append(asyncio.current_task())
        try:
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        except TimeoutError:
            after.append(asyncio.current_task())
        return "late"

    turn.tool("wait", wait)
    assert await turn.run() == "done"
    assert results(await turn.history()) == ["late"] * 3
    assert len(set(before)) == 3
    assert set(before) == set(after)


# Holds: sink-31
@pytest.mark.parametrize("waits", [False, True])
async def test_a_variable_that_a_tool_sets_reaches_no_other_call(bench, say, waits):
    turn = bench("basic", asks(say, "move", "move"), say.text("done"))
    seen = []

    async def move(given):
        seen.append(PLACE.get())
        PLACE.set("inside")
        if waits:
            await asyncio.sleep(0)
        seen.append(PLACE.get())

    turn.tool("move", move)
    assert await turn.run() == "done"
    assert sorted(seen) == ["inside", "inside", "outside", "outside"]
    assert PLACE.get() == "outside"


# Holds: sink-31
async def test_a_task_cancelled_before_it_begins_cancels_what_its_tool_waits_for(bench, say):
    turn = bench("basic", asks(say, "wait", "end"), say.text("done"))
    tasks, waits = [], []

    async def wait(given):
        tasks.append(asyncio.current_task())
        waits.append(asyncio.create_task(asyncio.Event().wait()))
        await waits[0]

    turn.tool("wait", wait)
    turn.tool("end", lambda given: str(tasks[0].cancel()))
    with anyio.fail_after(10):
        assert await turn.run() == "done"
    cancelled, ended = results(await turn.history())
    assert "ToolExitError" in cancelled
    assert ended == "True"
    assert waits[0].cancelled()


# Holds: sink-31
async def test_a_tool_that_cancels_its_task_and_takes_that_back_ends_no_other(bench, say):
    turn = bench("basic", asks(say, "hesitate", "wait"), say.text("done"))

    def hesitate(given):
        task = asyncio.current_task()
        task.cancel()
        task.uncancel()
        return "stays"

    async def wait(given):
        await asyncio.sleep(0)
        return "waited"

    turn.tool("hesitate", hesitate)
    turn.tool("wait", wait)
    assert await turn.run() == "done"
    assert results(await turn.history()) == ["stays", "waited"]


async def test_others_run_in_each_round_though_no_tool_waits(bench, say):
    rounds = [asks(say, "look") for _ in range(3)]
    turn = bench("basic", *rounds, say.text("done"))
    steps, seen = [], []

    async def other():
        while True:
            steps.append(None)
            await asyncio.sleep(0)

    turn.tool("look", lambda given: seen.append(len(steps)))
    task = asyncio.create_task(other())
    await asyncio.sleep(0)
    assert await turn.run() == "done"
    task.cancel()
    assert seen[0] < seen[1] < seen[2]
