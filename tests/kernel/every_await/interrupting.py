"""Ways to interrupt what is awaited at the k-th suspension of any of its tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
import trio
import trio.lowlevel


class Interrupted(Coroutine[Any, Any, Any]):
    """A coroutine in which something happens at the k-th suspension of all that share a count.

    Whatever else its task does to it reaches the coroutine as it is: a task that is cancelled before
    its first step, for one, closes it.
    """

    def __init__(self, coroutine: Any, count: list[int], at: int, act: Callable[[Any], Any]):
        self._coroutine, self._count, self._at, self._act = coroutine, count, at, act

    def send(self, value: Any) -> Any:
        return self._suspended(self._coroutine.send(value))

    def throw(self, *error: Any) -> Any:
        return self._suspended(self._coroutine.throw(*error))

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Any:
        raise NotImplementedError("only a task runs it")

    def _suspended(self, awaited: Any) -> Any:
        self._count[0] += 1
        if self._count[0] == self._at and self._act(awaited):
            return self.throw(asyncio.CancelledError())
        return awaited


async def with_the_task_cancelled(
    turn: Awaitable[Any], at: int, token: Any = None
) -> tuple[int, Any]:
    """Run a turn and cancel its task, which hears of it once."""
    return await _on_asyncio(turn, at, lambda task, awaited: bool(task.cancel() and False))


async def with_the_error_thrown(
    turn: Awaitable[Any], at: int, token: Any = None
) -> tuple[int, Any]:
    """Run a turn and throw a `CancelledError` in, as of a future that somebody cancelled."""

    def throw(task: asyncio.Task[Any], awaited: Any) -> bool:
        if awaited is not None:
            awaited._asyncio_future_blocking = False  # the task will never see it
            awaited.cancel()
        return True

    return await _on_asyncio(turn, at, throw)


async def with_the_scope_cancelled(
    turn: Awaitable[Any], at: int, token: Any = None
) -> tuple[int, Any]:
    """Run a turn and cancel the scope around it, of which every unshielded await hears."""
    scope = anyio.CancelScope()

    async def within() -> Any:
        with scope:
            return await turn
        return asyncio.CancelledError

    return await _on_asyncio(within(), at, lambda task, awaited: bool(scope.cancel()))


async def with_a_stop(turn: Awaitable[Any], at: int, token: Any) -> tuple[int, Any]:
    """Run a turn and ask its session to stop at once."""
    return await _on_asyncio(turn, at, lambda task, awaited: bool(token.request_immediate() and 0))


async def with_an_end(turn: Awaitable[Any], at: int, token: Any) -> tuple[int, Any]:
    """Run a turn and ask its session to stop when the tools that run have ended."""
    return await _on_asyncio(turn, at, lambda task, awaited: bool(token.request_graceful() and 0))


async def _on_asyncio(
    turn: Awaitable[Any], at: int, act: Callable[[asyncio.Task[Any], Any], bool]
) -> tuple[int, Any]:
    count, loop, before = [0], asyncio.get_running_loop(), asyncio.all_tasks()
    tasks: list[asyncio.Task[Any]] = []

    def make_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        interrupted = Interrupted(coroutine, count, at, lambda awaited: act(tasks[0], awaited))
        tasks.append(asyncio.Task(interrupted, loop=loop, **options))
        return tasks[-1]

    loop.set_task_factory(make_task)
    try:
        task = loop.create_task(turn)
        await asyncio.wait([task])
    finally:
        loop.set_task_factory(None)
    assert asyncio.all_tasks() == before, "a task outlived its turn"
    assert all(each.done() for each in tasks)
    if task.cancelled():
        return count[0], asyncio.CancelledError
    return count[0], task.result()


class ActsAt(trio.abc.Instrument):
    """Does something at the k-th suspension of the tasks that came after it."""

    def __init__(self, act: Callable[[], object], at: int) -> None:
        self.act, self.at, self.count = act, at, 0
        self.tasks: set[Any] = set()

    def task_spawned(self, task: Any) -> None:
        self.tasks.add(task)

    def task_exited(self, task: Any) -> None:
        self.tasks.discard(task)

    def after_task_step(self, task: Any) -> None:
        if task in self.tasks:
            self.count += 1
            if self.count == self.at:
                self.act()


async def with_the_trio_scope_cancelled(
    turn: Awaitable[Any], at: int, token: Any = None
) -> tuple[int, Any]:
    """Run a turn and cancel the trio scope around it, of which every unshielded await hears."""
    return await _on_trio(turn, at, lambda scope: scope.cancel())


async def with_a_stop_on_trio(turn: Awaitable[Any], at: int, token: Any) -> tuple[int, Any]:
    """Run a turn on trio and ask its session to stop at once."""
    return await _on_trio(turn, at, lambda scope: token.request_immediate())


async def with_an_end_on_trio(turn: Awaitable[Any], at: int, token: Any) -> tuple[int, Any]:
    """Run a turn on trio and ask its session to stop when the tools that run have ended."""
    return await _on_trio(turn, at, lambda scope: token.request_graceful())


async def _on_trio(
    turn: Awaitable[Any], at: int, act: Callable[[trio.CancelScope], object]
) -> tuple[int, Any]:
    outcome: Any = None

    async def run() -> None:
        nonlocal outcome
        outcome = await turn

    living = trio.lowlevel.current_statistics().tasks_living
    with trio.CancelScope() as scope:
        instrument = ActsAt(lambda: act(scope), at)
        trio.lowlevel.add_instrument(instrument)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
        finally:
            trio.lowlevel.remove_instrument(instrument)
    assert instrument.tasks == set(), "a task outlived its turn"
    assert trio.lowlevel.current_statistics().tasks_living == living
    return instrument.count, trio.Cancelled if outcome is None else outcome


WAYS = {
    "task": ("asyncio", with_the_task_cancelled),
    "error": ("asyncio", with_the_error_thrown),
    "scope": ("asyncio", with_the_scope_cancelled),
    "trio": ("trio", with_the_trio_scope_cancelled),
}
"""The event loop and the function of each way; a function gives how often what it awaited was
suspended, and its result or the type of the cancellation that ended it."""
REQUESTS = {
    "stop": ("asyncio", with_a_stop),
    "end": ("asyncio", with_an_end),
    "trio-stop": ("trio", with_a_stop_on_trio),
    "trio-end": ("trio", with_an_end_on_trio),
}
"""The same for what is asked of the token of the session."""
