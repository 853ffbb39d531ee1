"""`request_immediate` ends a turn at once, also of a loop that knows nothing of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from typing import Any

import anyio
import pytest
from scripted_session import record, session_with

from amplifier_core.event_loop import find_asyncio_task
from amplifier_core.llm_errors import AbortError


def by_task(token: Any) -> None:
    token.request_immediate()


def by_thread(token: Any) -> None:
    thread = threading.Thread(target=token.request_immediate)
    thread.start()
    thread.join()


def by_signal(token: Any) -> None:
    before = signal.signal(signal.SIGUSR1, lambda *_: token.request_immediate())
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)


async def forever(mounted: dict[str, Any]) -> str:
    await anyio.sleep_forever()
    return "never"


async def outcome_when_ended(session: Any, request_it: Any = by_task) -> Any:
    """Run a turn until it waits, have it stopped, and return its answer or error."""
    outcomes: list[Any] = []

    async def run() -> None:
        try:
            outcomes.append(await session.execute("a"))
        except (asyncio.CancelledError, AbortError) as error:
            outcomes.append(error)
        if (task := find_asyncio_task()) is not None:
            assert task.cancelling() == 0
        await anyio.lowlevel.checkpoint()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            assert outcomes == []
            request_it(session.coordinator.cancellation)
    return outcomes[0]


def assert_came_through(outcome: Any) -> None:
    """The cancellation of the runtime came through; that of trio cannot leave its scope."""
    is_asyncio = find_asyncio_task() is not None
    assert type(outcome) is (asyncio.CancelledError if is_asyncio else AbortError)


# Holds: differ-56, differ-58
@pytest.mark.parametrize("request_it", [by_task, by_thread, by_signal])
async def test_a_loop_that_waits_is_ended(engine, request_it):
    session = session_with(engine, forever, "next")
    seen = record(session, "cancel:completed")
    called: list[int] = []
    session.coordinator.cancellation.on_cancel(lambda: called.append(1))
    async with session:
        assert_came_through(await outcome_when_ended(session, request_it))
        assert [data["was_immediate"] for _, data in seen] == [True]
        assert called == [], "callbacks run only when the loop or the caller runs them"
        session.coordinator.cancellation.reset()
        assert await session.execute("b") == "next"


# Holds: differ-58
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_loop_may_answer_with_what_there_is(engine):
    async def answers(mounted: dict[str, Any]) -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await anyio.sleep_forever()
        await asyncio.sleep(0)
        return "half"

    async with session_with(engine, answers) as session:
        assert await outcome_when_ended(session) == "half"


async def test_a_loop_that_asks_for_it_itself_is_ended(engine):
    async def asks(mounted: dict[str, Any]) -> str:
        mounted["coordinator"].cancellation.request_immediate()
        await anyio.sleep_forever()
        return "never"

    async with session_with(engine, asks) as session:
        with pytest.raises((asyncio.CancelledError, AbortError)) as caught, anyio.fail_after(30):
            await session.execute("a")
    assert_came_through(caught.value)


# Holds: differ-57
async def test_a_parent_ends_the_turns_of_its_children(engine):
    parent = session_with(engine, forever)
    child = session_with(engine, forever)
    parent.coordinator.cancellation.register_child(child.coordinator.cancellation)
    async with parent, child:
        outcome = await outcome_when_ended(
            child, lambda _: parent.coordinator.cancellation.request_immediate()
        )
    assert_came_through(outcome)


async def test_a_child_session_in_a_turn_ends_with_its_parent(engine):
    child = session_with(engine, forever)

    async def asks_child(mounted: dict[str, Any]) -> str:
        return await child.execute("b")

    parent = session_with(engine, asks_child)
    parent.coordinator.cancellation.register_child(child.coordinator.cancellation)
    async with parent, child:
        assert_came_through(await outcome_when_ended(parent))


async def test_a_graceful_request_interrupts_nothing(engine):
    session = session_with(engine)
    go = anyio.Event()

    async def waits(mounted: dict[str, Any]) -> str:
        await go.wait()
        return "whole"

    session = session_with(engine, waits)
    answers: list[str] = []

    async def run() -> None:
        answers.append(await session.execute("a"))

    async with session, anyio.create_task_group() as group:
        group.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        session.coordinator.cancellation.request_graceful()
        await anyio.wait_all_tasks_blocked()
        assert answers == []
        go.set()
    assert answers == ["whole"]


# Holds: differ-61, differ-63
async def test_a_turn_of_a_cancelled_session_is_its_loops_and_said_once(engine, caplog):
    async def goes_on(mounted: dict[str, Any]) -> str:
        await anyio.lowlevel.checkpoint()
        return "on"

    async with session_with(engine, goes_on, goes_on) as session:
        session.coordinator.cancellation.request_immediate()
        with caplog.at_level(logging.WARNING, "amplifier_core.session"):
            assert await session.execute("a") == "on"
        text = "call `session.coordinator.cancellation.reset()` to go on"
        assert caplog.messages == [f"session `s` is cancelled, so its turns end at once; {text}"]
        caplog.clear()
        session.coordinator.cancellation.reset()
        assert await session.execute("a") == "on"
        assert caplog.messages == []


# Holds: differ-62
async def test_the_end_of_a_cancelled_turn_is_told_once(engine):
    async def tells(mounted: dict[str, Any]) -> str:
        mounted["coordinator"].cancellation.request_graceful()
        await mounted["hooks"].emit("cancel:completed", {"was_immediate": False, "by": "loop"})
        return "half"

    session = session_with(engine, tells, "again")
    seen = record(session, "cancel:completed")
    async with session:
        assert await session.execute("a") == "half"
        assert [data.get("by") for _, data in seen] == ["loop"]
        assert await session.execute("b") == "again"
        assert [data.get("by") for _, data in seen] == ["loop", None]


# Holds: differ-56
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_cancellation_of_the_task_at_the_same_moment_is_not_lost(engine, is_first):
    async with session_with(engine, forever) as session:
        counts: list[int] = []

        async def run() -> None:
            try:
                await session.execute("a")
            finally:
                counts.append(asyncio.current_task().cancelling())

        task = asyncio.create_task(run())
        await anyio.wait_all_tasks_blocked()
        if is_first:
            task.cancel()
        session.coordinator.cancellation.request_immediate()
        if not is_first:
            asyncio.get_running_loop().call_soon(task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert counts == [1]


# Holds: differ-59
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_loop_that_ignores_it_is_left_behind(engine, caplog, monkeypatch):
    monkeypatch.setattr("amplifier_core._kernel.loop_run.LOOP_GRACE_SECONDS", 0.01)
    go, over = asyncio.Event(), []

    async def stubborn(mounted: dict[str, Any]) -> str:
        while not go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await go.wait()
        over.append(1)
        return "late"

    async with session_with(engine, stubborn, "next") as session:
        assert_came_through(await outcome_when_ended(session))
        rest = "ignores its cancellation; it is left behind, and its result is ignored"
        assert caplog.messages == [f"loop `Loop` {rest}"]
        session.coordinator.cancellation.reset()
        assert await session.execute("b") == "next"
        go.set()
        await anyio.wait_all_tasks_blocked()
        assert over == [1]


async def test_time_limits_within_a_loop_are_its_own(engine):
    async def limits(mounted: dict[str, Any]) -> str:
        with anyio.move_on_after(0.001):
            await anyio.sleep_forever()
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        return "done"

    async with session_with(engine, limits) as session:
        assert await session.execute("a") == "done"
