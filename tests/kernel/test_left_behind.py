"""What is left behind of a coroutine: its cleanup goes on, and it holds up nobody."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import left_behind
from amplifier_core.left_behind import Leaving

logger = logging.getLogger(__name__)


@pytest.fixture
def anyio_backend() -> str:
    """Under trio no task can be left behind."""
    return "asyncio"


async def leave(steps: Coroutine[Any, Any, Any], grace: float) -> Any:
    """Go through a coroutine that is left behind after a grace."""
    try:
        awaited = steps.send(None)
    except StopIteration as stop:
        return stop.value
    return await Leaving(steps, grace, "it", logger, lambda: True).await_rest(awaited)


async def begin(steps: Coroutine[Any, Any, Any], grace: float) -> asyncio.Task[Any]:
    """Have a coroutine come to what it awaits first."""
    task = asyncio.create_task(leave(steps, grace))
    await asyncio.sleep(0)
    return task


async def ignore_cancellations(until: asyncio.Event) -> str:
    while not until.is_set():
        try:
            await until.wait()
        except asyncio.CancelledError:
            continue
    return "late"


def test_a_program_ends_whatever_ignores_it(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        task = await begin(ignore_cancellations(asyncio.Event()), 0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(run(), 60))
    rest = "it ignores its cancellation; it is left behind, and its result is ignored"
    assert caplog.messages == [rest]


def test_nothing_is_said_of_a_rest_that_is_collected(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        task = await begin(ignore_cancellations(asyncio.Event()), 0.01)
        task.cancel()
        await asyncio.wait([task])

    loop = asyncio.new_event_loop()
    loop.run_until_complete(run())
    loop.close()
    gc.collect()
    assert [record.name for record in caplog.records] == [__name__]


async def test_a_cleanup_that_takes_too_long_goes_on_and_may_have_time_limits() -> None:
    is_left, is_clean = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await is_left.wait()
            try:
                async with asyncio.timeout(0.001):
                    await asyncio.Event().wait()
            except TimeoutError:
                is_clean.set()

    task = await begin(work(), 0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    is_left.set()
    await asyncio.wait_for(is_clean.wait(), 60)


async def test_cleanups_at_the_same_moment_may_wait_for_the_same_task() -> None:
    go = asyncio.Event()
    closing = asyncio.create_task(ignore_cancellations(go))
    found: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            found.append(await closing)

    tasks = [await begin(work(), 60) for _ in range(3)]
    for task in tasks:
        task.cancel()
    asyncio.get_running_loop().call_later(0.01, go.set)
    await asyncio.wait(tasks)
    assert [task.cancelled() for task in tasks] == [True] * 3
    assert found == ["late"] * 3


async def test_a_task_that_ignores_each_cancellation_holds_nobody_who_awaits_it() -> None:
    go, ends = asyncio.Event(), []
    child = asyncio.create_task(ignore_cancellations(go))

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await child
            finally:
                ends.append("work")

    task = await begin(work(), 0.05)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == []
    go.set()
    assert await child == "late"
    await asyncio.sleep(0)
    assert ends == ["work"]


def test_no_private_name_of_asyncio_is_used() -> None:
    text = Path(left_behind.__file__).read_text()

    assert "asyncio._" not in text
    assert "_asyncio" not in text
    assert "_log_destroy" not in text
