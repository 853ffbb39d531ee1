"""Work without `await` runs as with `asyncio.run`, in an event loop that is kept."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator

import pytest

from amplifier_providers.running.kept_loop import run_in_kept_loop
from amplifier_providers.running.loop_end import run_later

COLOUR: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


async def loop_of() -> asyncio.AbstractEventLoop:
    COLOUR.set("blue")
    return asyncio.get_running_loop()


# Holds: connection-5
def test_calls_of_a_thread_run_in_one_loop() -> None:
    first = run_in_kept_loop(loop_of)
    assert run_in_kept_loop(loop_of) is first
    assert not first.is_closed()
    assert COLOUR.get() == "none"


def test_calls_in_threads_at_once_run_in_loops_of_their_own() -> None:
    both = threading.Barrier(2, timeout=30)
    loops: list[asyncio.AbstractEventLoop] = []

    async def meet() -> None:
        loops.append(asyncio.get_running_loop())
        both.wait()

    threads = [threading.Thread(target=run_in_kept_loop, args=(meet,)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(set(loops)) == 2


# Holds: connection-5
def test_what_work_leaves_is_ended_with_it() -> None:
    ended: list[str] = []

    async def sleep() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")

    async def count() -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            ended.append("generator")

    kept: list[object] = []

    async def work() -> None:
        kept.append(asyncio.create_task(sleep()))
        numbers = count()
        kept.append(numbers)
        await anext(numbers)
        await asyncio.sleep(0)

    run_in_kept_loop(work)
    assert ended == ["task", "generator"]


# Holds: connection-5
def test_what_the_loop_does_for_itself_is_done_to_its_end_however_short_the_work() -> None:
    done: list[str] = []

    async def close() -> None:
        for name in ("first", "second", "third"):
            await asyncio.sleep(0)
            done.append(name)

    async def begin() -> None:
        run_later(0, close)

    async def work() -> None:
        for _ in range(2):
            await asyncio.sleep(0)

    run_in_kept_loop(begin)
    run_in_kept_loop(work)
    assert done == ["first", "second", "third"]


def test_an_error_of_a_task_that_is_left_is_told_to_the_loop() -> None:
    told: list[object] = []

    async def fail() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("left")

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: told.append(str(context["exception"]))
        )
        task = asyncio.create_task(fail())
        await asyncio.sleep(0)
        assert not task.done()

    run_in_kept_loop(work)

    async def reset() -> None:
        asyncio.get_running_loop().set_exception_handler(None)

    run_in_kept_loop(reset)
    assert told == ["left"]


def test_an_error_is_raised_and_the_loop_stays() -> None:
    first = run_in_kept_loop(loop_of)

    async def fail() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        run_in_kept_loop(fail)
    assert run_in_kept_loop(loop_of) is first


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_loop_that_was_interrupted_is_closed(error: type[BaseException]) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def fail() -> None:
        loops.append(asyncio.get_running_loop())
        raise error

    with pytest.raises(error):
        run_in_kept_loop(fail)
    assert loops[0].is_closed()
    assert run_in_kept_loop(loop_of) is not loops[0]
