"""A session runs one turn at a time, in the order in which they were asked for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import anyio
import pytest
from scripted_session import session_with


class Turns:
    """A loop whose turns end when they are let go, and a record of them."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.go: dict[str, anyio.Event] = {}

    async def __call__(self, prompt: str, **mounted: Any) -> str:
        self.log.append(f"{prompt} begins")
        self.go[prompt] = anyio.Event()
        try:
            await self.go[prompt].wait()
        finally:
            self.log.append(f"{prompt} ends")
        return prompt


async def session_of(engine: Any, execute: Any) -> Any:
    session = session_with(engine)
    await session.initialize()
    session.coordinator.mount_points["orchestrator"].execute = execute
    return session


# Holds: differ-53
async def test_turns_run_in_the_order_of_the_calls(engine):
    turns, answers = Turns(), []
    session = await session_of(engine, turns)

    async def run(prompt: str) -> None:
        answers.append(await session.execute(prompt))

    async with anyio.create_task_group() as group:
        for prompt in "abc":
            group.start_soon(run, prompt)
            await anyio.wait_all_tasks_blocked()
        for prompt in "abc":
            assert turns.log[-1] == f"{prompt} begins"
            turns.go[prompt].set()
            await anyio.wait_all_tasks_blocked()
    assert answers == ["a", "b", "c"]
    assert turns.log == [f"{prompt} {what}" for prompt in "abc" for what in ("begins", "ends")]


# Holds: differ-53
async def test_a_turn_that_waits_can_be_cancelled(engine):
    turns, scope = Turns(), anyio.CancelScope()
    session = await session_of(engine, turns)

    async def run_second() -> None:
        with scope:
            await session.execute("b")

    async with anyio.create_task_group() as group:
        group.start_soon(session.execute, "a")
        await anyio.wait_all_tasks_blocked()
        group.start_soon(run_second)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(session.execute, "c")
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
        await anyio.wait_all_tasks_blocked()
        turns.go["a"].set()
        await anyio.wait_all_tasks_blocked()
        turns.go["c"].set()
    assert turns.log == ["a begins", "a ends", "c begins", "c ends"]


async def test_a_turn_that_is_cancelled_as_its_turn_comes_passes_it_on(engine):
    turns, scope = Turns(), anyio.CancelScope()
    session = await session_of(engine, turns)

    async def run_second() -> None:
        with scope:
            await session.execute("b")

    async with anyio.create_task_group() as group:
        group.start_soon(session.execute, "a")
        await anyio.wait_all_tasks_blocked()
        group.start_soon(run_second)
        await anyio.wait_all_tasks_blocked()
        turns.go["a"].set()
        scope.cancel()
        await anyio.wait_all_tasks_blocked()
        if "b" in turns.go:
            turns.go["b"].set()
        group.start_soon(session.execute, "c")
        await anyio.wait_all_tasks_blocked()
        turns.go["c"].set()
    assert turns.log[-2:] == ["c begins", "c ends"]


async def test_a_failed_turn_lets_the_next_one_run(engine):
    session = session_with(engine, ValueError("broken"), "fine")
    async with session:
        with pytest.raises(ValueError, match="broken"):
            await session.execute("a")
        assert await session.execute("b") == "fine"


# Holds: differ-54
@pytest.mark.parametrize("depth", ["loop", "task", "thread", "child"])
async def test_a_turn_within_a_turn_of_the_session_is_refused(engine, depth):
    inner = session_with(engine)

    async def inside(prompt: str, **mounted: Any) -> str:
        if depth == "task":
            async with anyio.create_task_group() as group:
                group.start_soon(session.execute, "again")
        elif depth == "thread":
            return await anyio.to_thread.run_sync(
                lambda: anyio.run(session.execute, "again", backend="asyncio")
            )
        elif depth == "child":
            inner.coordinator.mount_points["orchestrator"].execute = asks
            return await inner.execute("again")
        return await session.execute("again")

    async def asks(prompt: str, **mounted: Any) -> str:
        return await session.execute("and again")

    await inner.initialize()
    session = await session_of(engine, inside)
    with anyio.fail_after(30), pytest.raises((RuntimeError, ExceptionGroup)) as caught:
        await session.execute("a")
    error = caught.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert type(error) is RuntimeError
    assert str(error).startswith("`execute` was called inside a turn of the same session")


async def test_a_turn_of_another_session_within_a_turn_is_fine(engine):
    inner = session_with(engine, "inner")

    async def inside(prompt: str, **mounted: Any) -> str:
        return await inner.execute("b")

    async with inner:
        session = await session_of(engine, inside)
        assert await session.execute("a") == "inner"


async def test_a_task_that_a_turn_left_may_run_the_next_turn(engine):
    later: list[Any] = []

    async def inside(prompt: str, **mounted: Any) -> str:
        if prompt == "a":
            group.start_soon(run)
        return prompt

    async def run() -> None:
        await over.wait()
        later.append(await session.execute("b"))

    over = anyio.Event()
    session = await session_of(engine, inside)
    async with anyio.create_task_group() as group:
        assert await session.execute("a") == "a"
        over.set()
    assert later == ["b"]


# Holds: differ-55
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_turn_in_another_event_loop_is_refused_while_one_runs(engine):
    turns, errors = Turns(), []
    session = await session_of(engine, turns)

    def elsewhere() -> None:
        try:
            asyncio.run(session.execute("b"))
        except RuntimeError as error:
            errors.append(str(error))

    async with anyio.create_task_group() as group:
        group.start_soon(session.execute, "a")
        await anyio.wait_all_tasks_blocked()
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        turns.go["a"].set()
    assert errors[0].startswith("the session runs a turn in another event loop")
    assert turns.log == ["a begins", "a ends"]


def test_event_loops_may_follow_each_other(engine):
    session = session_with(engine, "one", "two")
    asyncio.run(session.initialize())
    assert asyncio.run(session.execute("a")) == "one"
    assert asyncio.run(session.execute("b")) == "two"


def test_a_turn_of_an_event_loop_that_was_closed_holds_nobody(engine):
    async def hangs(mounted: dict[str, Any]) -> str:
        await asyncio.Event().wait()
        return "never"

    session = session_with(engine, hangs, "two")
    loop = asyncio.new_event_loop()
    loop.run_until_complete(session.initialize())
    task = loop.create_task(session.execute("a"))
    loop.run_until_complete(asyncio.sleep(0))
    task._log_destroy_pending = False
    loop.close()
    assert asyncio.run(session.execute("b")) == "two"
