"""`request_immediate` ends hooks that a session calls before its loop runs, and then the turn."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio
import pytest
from scripted_session import record, session_with
from test_interruption import (
    assert_came_through,
    by_signal,
    by_task,
    by_thread,
    outcome_when_ended,
)

from amplifier_core.llm_errors import AbortError

STREAMING: dict[str, Any] = {
    "session": {"orchestrator": "loop-streaming", "context": "context-simple"}
}


async def sleeps(event: str, data: dict[str, Any]) -> None:
    await anyio.sleep_forever()


async def goes_on(mounted: dict[str, Any]) -> str:
    await anyio.lowlevel.checkpoint()
    return "never"


# Holds: differ-60
@pytest.mark.parametrize("request_it", [by_task, by_thread, by_signal])
async def test_a_hook_of_session_start_is_ended_and_the_loop_with_it(engine, request_it, caplog):
    session = session_with(engine, goes_on, "next")
    session.coordinator.hooks.register("session:start", sleeps)
    seen = record(session, "cancel:completed")
    async with session:
        with caplog.at_level(logging.WARNING, "amplifier_core.session"):
            assert_came_through(await outcome_when_ended(session, request_it))
        assert [data["was_immediate"] for _, data in seen] == [True]
        assert caplog.messages == []
        session.coordinator.cancellation.reset()
        assert await session.execute("b") == "next", "the session was announced"


async def test_a_hook_of_session_resume_is_ended(engine):
    session = session_with(engine, goes_on, is_resumed=True)
    session.coordinator.hooks.register("session:resume", sleeps)
    async with session:
        assert_came_through(await outcome_when_ended(session))


async def test_a_hook_of_the_raw_plan_is_ended(rust):
    session = session_with(rust, goes_on)
    session.config["session"] = {**session.config["session"], "raw": True}
    session.coordinator.hooks.register("session:config", sleeps)
    async with session:
        assert_came_through(await outcome_when_ended(session))


async def test_a_hook_that_asks_for_the_stop_itself_ends_the_turn(engine):
    def asks(event: str, data: dict[str, Any]) -> None:
        session.coordinator.cancellation.request_immediate()

    session = session_with(engine, goes_on)
    session.coordinator.hooks.register("session:start", asks)
    async with session:
        with pytest.raises((asyncio.CancelledError, AbortError)) as caught:
            await session.execute("a")
    assert_came_through(caught.value)


@pytest.mark.parametrize("others", [(), ("execution:start",), ("turn:start", "prompt:submit")])
async def test_our_loop_returns_what_there_is_and_its_hooks_do_not_hold_it(engine, others):
    session = engine.AmplifierSession(STREAMING)
    hooks = session.coordinator.hooks
    for event in ("session:start", *others):
        hooks.register(event, sleeps)
    completed = record(session, "orchestrator:complete")
    async with session:
        await session.coordinator.mount("providers", object(), name="never")
        assert await outcome_when_ended(session) == ""
    assert [data["status"] for _, data in completed] == ["cancelled"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_hook_that_ignores_it_is_left_behind(engine, caplog, monkeypatch):
    monkeypatch.setattr("amplifier_core._session_exec.HOOK_GRACE_SECONDS", 0.01)
    go = asyncio.Event()

    async def stubborn(event: str, data: dict[str, Any]) -> None:
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue

    session = session_with(engine, goes_on)
    session.coordinator.hooks.register("session:start", stubborn)
    async with session:
        assert_came_through(await outcome_when_ended(session))
        rest = "ignores its cancellation; it is left behind, and its result is ignored"
        assert caplog.messages == [f"a hook of `session:start` {rest}"]
        go.set()
        await anyio.wait_all_tasks_blocked()


async def test_a_graceful_request_lets_a_hook_of_session_start_end(engine):
    go = anyio.Event()

    async def waits(event: str, data: dict[str, Any]) -> None:
        await go.wait()
        ended.append(event)

    ended: list[str] = []
    session = session_with(engine, goes_on)
    session.coordinator.hooks.register("session:start", waits)
    async with session, anyio.create_task_group() as group:
        group.start_soon(session.execute, "a")
        await anyio.wait_all_tasks_blocked()
        session.coordinator.cancellation.request_graceful()
        await anyio.wait_all_tasks_blocked()
        assert ended == []
        go.set()
    assert ended == ["session:start"]
