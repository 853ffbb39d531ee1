"""Handlers and cancellation: what ends a handler, and what ends the emit."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import anyio
import pytest
import trio

from amplifier_core.models import HookResult


# Holds: differ-20
async def test_cancelling_the_emitter_cancels_the_running_handler(engine):
    hooks, seen = engine.HookRegistry(), []

    async def waits(event: str, data: dict[str, Any]) -> None:
        seen.append("began")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            seen.append("cancelled")
            raise

    hooks.register("e", waits)
    hooks.register("e", lambda *_: seen.append("never"))

    async with anyio.create_task_group() as group:
        group.start_soon(hooks.emit, "e", {})
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    assert seen == ["began", "cancelled"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_cancelled_error_of_a_handlers_own_is_its_own_failure(engine, caplog):
    hooks, seen = engine.HookRegistry(), []

    async def raises(event: str, data: dict[str, Any]) -> None:
        raise asyncio.CancelledError("own")

    def raises_at_once(event: str, data: dict[str, Any]) -> None:
        raise asyncio.CancelledError("own")

    hooks.register("e", raises)
    hooks.register("e", raises_at_once)
    hooks.register("e", lambda *_: seen.append("next"))

    assert (await hooks.emit("e", {})).action == "continue"
    assert seen == ["next"]
    assert len(caplog.records) == 2


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_cancelled_handler_ends_the_emit_of_a_cancelled_task(engine):
    hooks = engine.HookRegistry()
    began = asyncio.Event()

    async def waits(event: str, data: dict[str, Any]) -> None:
        began.set()
        await asyncio.Event().wait()

    hooks.register("e", waits)
    task = asyncio.create_task(hooks.emit("e", {}))
    await began.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_emit_runs_normally_while_its_task_is_being_cancelled(engine):
    hooks, seen = engine.HookRegistry(), []

    async def handler(event: str, data: dict[str, Any]) -> HookResult:
        await asyncio.sleep(0)
        seen.append(event)
        return HookResult(action="deny")

    hooks.register("e", handler)
    began = asyncio.Event()

    async def work() -> HookResult:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            result = await hooks.emit("e", {})
        return result

    task = asyncio.create_task(work())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["e"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
@pytest.mark.parametrize("limit", [asyncio.timeout, asyncio.timeout_at])
async def test_a_timeout_around_an_emit_ends_it(engine, limit):
    hooks = engine.HookRegistry()

    async def waits(event: str, data: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    hooks.register("e", waits)
    with pytest.raises(TimeoutError):
        async with limit(0):
            await hooks.emit("e", {})


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_exit_that_a_handler_raises_reaches_the_caller(engine, error):
    hooks = engine.HookRegistry()

    def leaves(event: str, data: dict[str, Any]) -> None:
        raise error("out")

    hooks.register("e", leaves)
    with pytest.raises(error, match="out"):
        trio.run(hooks.emit, "e", {})


def test_outside_asyncio_a_cancelled_error_always_reaches_the_caller(engine):
    hooks = engine.HookRegistry()

    def raises(event: str, data: dict[str, Any]) -> None:
        raise asyncio.CancelledError("out")

    hooks.register("e", raises)
    with pytest.raises(asyncio.CancelledError, match="out"):
        trio.run(hooks.emit, "e", {})


async def test_closing_a_waiting_emit_runs_the_handlers_finally(engine):
    hooks, seen = engine.HookRegistry(), []

    class Pause:
        def __await__(self):
            yield "paused"

    async def waits(event: str, data: dict[str, Any]) -> None:
        try:
            await Pause()
        finally:
            seen.append("finally")

    hooks.register("e", waits)
    coroutine = hooks.emit("e", {})
    assert coroutine.send(None) == "paused"
    coroutine.close()

    assert seen == ["finally"]


# Holds: differ-16, differ-17
async def test_handlers_run_in_the_callers_context(engine):
    hooks, seen = engine.HookRegistry(), []
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    def plain(event: str, data: dict[str, Any]) -> None:
        seen.append(variable.get())

    async def later(event: str, data: dict[str, Any]) -> None:
        seen.append(variable.get())
        variable.set("by handler")

    hooks.register("e", plain)
    hooks.register("e", later)
    variable.set("by caller")
    await hooks.emit("e", {})

    assert seen == ["by caller", "by caller"]
    assert variable.get() == "by handler"


async def test_emits_of_many_tasks_interleave(engine):
    hooks, seen = engine.HookRegistry(), []

    async def handler(event: str, data: dict[str, Any]) -> None:
        await anyio.lowlevel.checkpoint()
        seen.append(data["n"])

    hooks.register("e", handler)
    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(hooks.emit, "e", {"n": number})

    assert sorted(seen) == list(range(50))
