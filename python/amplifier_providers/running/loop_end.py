"""What happens later in an event loop, and at its end: under asyncio and under trio."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import anyio

from amplifier_core.event_loop import find_asyncio_loop

Work = Callable[[], Awaitable[None]]

_ends: WeakSet[AsyncGenerator[Any, Any]] = WeakSet()


def running_loop() -> Any:
    """Return what stands for the event loop that runs here: asyncio's loop, or trio's token."""
    loop = find_asyncio_loop()
    return sys.modules["trio"].lowlevel.current_trio_token() if loop is None else loop


def run_at_end(work: Work) -> object:
    """Run this when the event loop ends: asyncio's where it shuts its asynchronous generators down.

    Args:
        work: What is run; it must not raise.

    Returns:
        What has to be kept until then.
    """
    if find_asyncio_loop() is None:
        _start_system_task(lambda: _wait_for_end(work))
        return None
    generator = _end_with_loop(work)
    _ends.add(generator)
    # Its first step makes it known to the loop.
    with suppress(StopIteration):
        generator.__anext__().send(None)
    return generator


def is_end_of_loop(generator: AsyncGenerator[Any, Any]) -> bool:
    """Whether this is what `run_at_end` gave to an event loop of asyncio."""
    return generator in _ends


def run_later(seconds: float, work: Work) -> None:
    """Run this after a while, unless the event loop ends before.

    Args:
        seconds: How long.
        work: What is run; it must not raise.
    """
    loop = find_asyncio_loop()
    if loop is None:
        _start_system_task(lambda: _wait_and_run(seconds, work))
    else:
        loop.call_later(seconds, _start_asyncio_task, loop, work)


def was_put_off(task: object) -> bool:
    """Whether this task of asyncio runs what `run_later` was given."""
    return task in _tasks


async def _end_with_loop(work: Work) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await work()


async def _wait_for_end(work: Work) -> None:
    try:
        await anyio.Event().wait()
    finally:
        with anyio.CancelScope(shield=True):
            await work()


async def _wait_and_run(seconds: float, work: Work) -> None:
    # Not a sleep, which takes no time where a test replaces it.
    with anyio.move_on_after(seconds):
        await anyio.Event().wait()
    await work()


def _start_system_task(function: Work) -> None:
    sys.modules["trio"].lowlevel.spawn_system_task(function)


def _start_asyncio_task(loop: Any, work: Work) -> None:
    task = loop.create_task(work())
    # The loop itself holds tasks weakly.
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


_tasks: set[Any] = set()
