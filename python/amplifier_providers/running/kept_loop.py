"""Event loops that are kept between calls without `await`, and their connections with them."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakSet

from .loop_end import is_end_of_loop, was_put_off

ResultT = TypeVar("ResultT")

MAX_KEPT = 64
"""Event loops without work that are kept."""

_free: list[asyncio.Runner] = []
"""Those without work; the last one was used last."""
_of_parent: list[asyncio.Runner] = []
"""What a process had when it was forked, which still waits for the sockets of its parent."""
_lock = Lock()


def run_in_kept_loop(work: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
    """Run work as `asyncio.run` does, in an event loop that stays open for the next call.

    What the work leaves of tasks and asynchronous generators is ended with it.

    Args:
        work: Returns the coroutine.

    Raises:
        RuntimeError: An event loop runs in this thread.
        KeyboardInterrupt: Ctrl+C; the work was cancelled first.
        Exception: What the work raised.
    """
    with _lock:
        runner = _free.pop() if _free else None
    if runner is None:
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    is_whole = True
    try:
        return runner.run(_run_whole(work), context=contextvars.copy_context())
    except (KeyboardInterrupt, SystemExit):
        is_whole = False
        raise
    finally:
        _give_back(runner, is_whole=is_whole)


def _give_back(runner: asyncio.Runner, *, is_whole: bool) -> None:
    with _lock:
        is_kept = is_whole and len(_free) < MAX_KEPT
        if is_kept:
            _free.append(runner)
    if not is_kept:
        runner.close()


async def _run_whole(work: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
    generators: WeakSet[AsyncGenerator[Any, Any]] = WeakSet()
    hooks = sys.get_asyncgen_hooks()

    def note(generator: AsyncGenerator[Any, Any]) -> None:
        if not is_end_of_loop(generator):
            generators.add(generator)
        if hooks.firstiter is not None:
            hooks.firstiter(generator)

    sys.set_asyncgen_hooks(firstiter=note)
    try:
        return await work()
    finally:
        await _end_tasks()
        sys.set_asyncgen_hooks(firstiter=hooks.firstiter)
        for generator in list(generators):
            with suppress(Exception):
                await generator.aclose()


async def _end_tasks() -> None:
    """Cancel the other tasks of the event loop, and wait for them.

    What the loop does for itself goes on, such as the closing of connections: half of them would be
    left open.
    """
    loop = asyncio.get_running_loop()
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in tasks:
        if not was_put_off(task):
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            loop.call_exception_handler(
                {
                    "message": "a task that was left behind raised an error",
                    "exception": error,
                    "task": task,
                }
            )


def _leave_to_parent() -> None:
    global _lock
    _lock = Lock()
    _of_parent.extend(_free)
    _free.clear()


def _close_at_exit() -> None:
    while _free:
        loop = _free.pop().get_loop()
        # Not `Runner.close`, which may start a thread: an exit forbids that.
        with suppress(RuntimeError):
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


atexit.register(_close_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
