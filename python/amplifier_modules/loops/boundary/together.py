"""Coroutines that run at the same time, until all have ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import anyio

from amplifier_core.event_loop import find_asyncio_loop, find_asyncio_task
from amplifier_providers.running.run_sync import caller_into_loop

from .late_steps import LateSteps

if TYPE_CHECKING:
    import asyncio

Function: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""What runs; it raises nothing but the cancellation of its task."""

Begin: TypeAlias = Callable[[Function, Callable[[], None]], Callable[[], object] | None]
"""Begins a function, and calls another at its end; returns what cancels it, None if it has ended."""

CallSoon: TypeAlias = Callable[[Callable[[], object]], Any]


class Together(Protocol):
    """Runs functions in a task each: `async with together() as running: ...`.

    The block ends when all have ended. What leaves it as an error cancels them first.
    """

    is_stopping: bool
    """Whether the functions were cancelled, by `stop` or with the caller."""
    call_soon: CallSoon
    """Calls a function soon in the event loop of the block, from any thread."""

    async def __aenter__(self) -> Self:
        """Begin."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """End, once all functions have ended."""
        ...

    def start(self, function: Function, on_end: Callable[[], None]) -> Callable[[], object]:
        """Run a function soon; return what cancels it.

        Args:
            function: What runs.
            on_end: Called once it has ended, or was cancelled before it began.
        """
        ...

    def begin(self, function: Function, on_end: Callable[[], None]) -> Callable[[], object] | None:
        """Run a function, at once as far as it can; return what cancels it, None if it has ended.

        Args:
            function: What runs.
            on_end: Called once it has ended, unless None was returned.
        """
        ...

    def stop(self) -> None:
        """Cancel all functions; the caller is not cancelled."""
        ...

    async def wait(self) -> None:
        """Wait until no function runs; others run once, also where none waited for anything."""
        ...

    def find_task(self) -> asyncio.Task[Any] | None:
        """Return the task of asyncio that runs here; None under trio."""
        ...


def find_together() -> Together:
    """Return what runs functions under the event loop that runs here."""
    return _Nursery() if find_asyncio_task() is None else _Tasks()


def absorb_own_cancellation() -> Function | None:
    """Return what takes back the cancellation of this task by itself; None if there is none.

    Only asyncio has it: in trio, scopes are cancelled and not tasks.
    """
    task = find_asyncio_task()
    return partial(absorb_cancellation, task) if task is not None and task.cancelling() else None


async def absorb_cancellation(task: asyncio.Task[Any]) -> None:
    """Take back the cancellation of a task by itself."""
    import asyncio

    while task.uncancel():
        pass
    # Until Python 3.13 a cancellation that was not delivered yet outlives `uncancel`.
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(0)


class _Tasks:
    """Tasks of asyncio.

    Each hears of a cancellation once, so that it can await its clean-up. (Scopes of anyio repeat it
    at every turn of the event loop.)
    """

    def __init__(self) -> None:
        import asyncio

        self._current_task = asyncio.current_task
        self._loop: asyncio.AbstractEventLoop = find_asyncio_loop()
        self._running: dict[asyncio.Task[None], Callable[[], None]] = {}
        self._starting: set[asyncio.Task[None]] = set()
        """Tasks that have not begun: one that is cancelled ends without running."""
        self._late: LateSteps | None = None
        """Lends its task to functions for their first step; None where none was begun yet."""
        self._none_runs: asyncio.Future[None] | None = None
        self.is_stopping = False
        self.call_soon: CallSoon = self._loop.call_soon_threadsafe

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is not None:
            self.stop()
        if isinstance(error, GeneratorExit):
            return False  # nothing can be awaited any more
        import asyncio

        cancellation: asyncio.CancelledError | None = None
        while self._running:
            try:
                await self.wait()
            except asyncio.CancelledError as again:
                cancellation = again
                self.stop()
        if cancellation is not None and error is None:
            raise cancellation
        return False

    def start(self, function: Function, on_end: Callable[[], None]) -> Callable[[], object]:
        async def run() -> None:
            self._starting.discard(task)
            try:
                await function()
            finally:
                # Here, and not when the task is done, which takes the event loop once more.
                self._note_end(task)

        task = self._loop.create_task(run())
        self._running[task] = on_end
        if not self._starting:
            self._loop.call_soon(self._look_at_starting)
        self._starting.add(task)
        if self.is_stopping:
            task.cancel()
        return task.cancel

    def begin(self, function: Function, on_end: Callable[[], None]) -> Callable[[], object] | None:
        if self.is_stopping:
            return self.start(function, on_end)
        late = self._late
        if late is None or not late.is_free:
            late = self._late = LateSteps(self._loop)
        task = late.begin(function())
        if task is None:
            return None
        late.on_end = partial(self._note_end, task)
        self._running[task] = on_end
        return task.cancel

    def stop(self) -> None:
        if not self.is_stopping:
            self.is_stopping = True
            for task in self._running:
                task.cancel()

    async def wait(self) -> None:
        if self._late is not None and not self._running:
            import asyncio

            self._late = None
            await asyncio.sleep(0)
        while self._running:
            self._none_runs = self._loop.create_future()
            await self._none_runs

    def find_task(self) -> asyncio.Task[Any] | None:
        return self._current_task(self._loop)

    def _look_at_starting(self) -> None:
        """End those that were cancelled before they began, and look again until all have begun.

        Once for all that begin together: a callback of each would cost as much as its task.
        """
        for task in [task for task in self._starting if task.done()]:
            self._starting.discard(task)
            self._note_end(task)
        if self._starting:
            self._loop.call_soon(self._look_at_starting)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        on_end = self._running.pop(task, None)
        if on_end is None:
            return
        on_end()
        if not self._running and self._none_runs is not None and not self._none_runs.done():
            self._none_runs.set_result(None)


class _Nursery:
    """Tasks of trio."""

    def __init__(self) -> None:
        self._group = anyio.create_task_group()
        self._count = 0
        self._none_runs = anyio.Event()
        self.is_stopping = False
        self.call_soon: CallSoon = caller_into_loop()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is not None:
            self.stop()
        try:
            # Where only `stop` cancelled it, the block has ended.
            return bool(await self._group.__aexit__(kind, error, trace))
        except BaseExceptionGroup as group:
            raise (error or group.exceptions[0]) from None

    def start(self, function: Function, on_end: Callable[[], None]) -> Callable[[], object]:
        scope = anyio.CancelScope()
        self._count += 1
        self._group.start_soon(self._run, scope, function, on_end)
        return scope.cancel

    def begin(self, function: Function, on_end: Callable[[], None]) -> Callable[[], object]:
        return self.start(function, on_end)

    def stop(self) -> None:
        if not self.is_stopping:
            self.is_stopping = True
            self._group.cancel_scope.cancel()

    async def wait(self) -> None:
        while self._count:
            self._none_runs = anyio.Event()
            await self._none_runs.wait()

    def find_task(self) -> None:
        return None

    async def _run(
        self, scope: anyio.CancelScope, function: Function, on_end: Callable[[], None]
    ) -> None:
        try:
            with scope:
                await function()
        finally:
            self._count -= 1
            on_end()
            if not self._count:
                self._none_runs.set()
