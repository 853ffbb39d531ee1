"""Coroutines that run at the same time, until all have ended."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from amplifier_core._kernel.interruption import asyncio_task

if TYPE_CHECKING:
    import asyncio


async def run_together(functions: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Run functions in a task each; when one raises, the others are cancelled.

    Under asyncio each hears of a cancellation once, so that it can await its clean-up. (Scopes of
    anyio repeat it at every turn of the event loop.)

    Raises:
        BaseException: The cancellation of the caller, else what the first function raised.
    """
    if asyncio_task() is not None:
        await _in_tasks(functions)
        return
    try:
        async with anyio.create_task_group() as group:
            for function in functions:
                group.start_soon(function)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def _in_tasks(functions: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    import asyncio

    coroutines = [function() for function in functions]
    running = set(map(asyncio.create_task, coroutines))
    is_stopping = False
    failure: BaseException | None = None
    cancellation: asyncio.CancelledError | None = None
    while running:
        try:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as error:
            cancellation = error
        except BaseException:
            for task in running:
                task.cancel()
            raise
        ended = {task for task in running if task.done()}
        running -= ended
        failure = failure or next(filter(None, map(_failure, ended)), None)
        if not is_stopping and (failure or cancellation):
            is_stopping = True
            for task in running:
                task.cancel()
    for coroutine in coroutines:
        coroutine.close()  # one whose task was cancelled before it began
    if error := cancellation or failure:
        raise error


def _failure(task: asyncio.Task[None]) -> BaseException | None:
    import asyncio

    return asyncio.CancelledError() if task.cancelled() else task.exception()
