"""An event loop of asyncio in a thread of its own, which calls from any thread and loop share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio

from amplifier_core.event_loop import find_asyncio_loop
from amplifier_providers.running.run_sync import caller_into_loop

from ..errors import UnreachableStoreError

ResultT = TypeVar("ResultT")

_JOIN_SECONDS = 5.0
_CLOSED = "the store was closed meanwhile"


class LoopThread:
    """A thread with a loop, which runs until `stop`."""

    def __init__(self, name: str) -> None:
        """Start it."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name=name, daemon=True)
        self._thread.start()

    async def run(
        self, make: Callable[[], Coroutine[Any, Any, ResultT]], *, can_leave: bool = False
    ) -> ResultT:
        """Return what a coroutine returns that runs in the loop of this thread.

        Args:
            make: Makes it, in that thread.
            can_leave: Whether a caller who is cancelled leaves at once; else it waits for the end.

        Raises:
            Exception: What it raises.
        """
        caller = find_asyncio_loop()
        if caller is None or can_leave:
            return await self._run_for_any_loop(make, can_leave=can_leave)
        waited: _Lasting[ResultT] = _Lasting(loop=caller)
        self._loop.call_soon_threadsafe(self._begin, make, waited)
        return await waited

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function in this thread, without waiting for it."""
        self._loop.call_soon_threadsafe(function)

    def run_now(self, make: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run a coroutine and wait for it; nothing is raised."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            future = asyncio.run_coroutine_threadsafe(_start(make), self._loop)
            with suppress(Exception):
                future.result(_JOIN_SECONDS)

    def stop(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.stop)
            if threading.current_thread() is not self._thread:
                self._thread.join(_JOIN_SECONDS)

    async def _run_for_any_loop(
        self, make: Callable[[], Coroutine[Any, Any, ResultT]], *, can_leave: bool
    ) -> ResultT:
        call_here, ended = caller_into_loop(), anyio.Event()

        def end(_: object) -> None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
                call_here(ended.set)

        future = asyncio.run_coroutine_threadsafe(_start(make), self._loop)
        future.add_done_callback(end)
        try:
            with anyio.CancelScope(shield=not can_leave):
                await ended.wait()
        finally:
            future.cancel()
        if future.cancelled():
            raise UnreachableStoreError(_CLOSED)
        return future.result()

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self._loop.close()

    def _begin(
        self, make: Callable[[], Coroutine[Any, Any, ResultT]], waited: asyncio.Future[ResultT]
    ) -> None:
        task = self._loop.create_task(make())
        # The loop itself holds tasks weakly; the callback holds this one.
        task.add_done_callback(partial(_finish, waited))


class _Lasting(asyncio.Future[ResultT]):
    """Work under way: a task that is cancelled while it waits for it ends when that is done."""

    def cancel(self, msg: Any | None = None) -> bool:
        """Do nothing; asyncio then raises the cancellation in the task when it goes on."""
        del msg
        return False


async def _start(make: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
    return await make()


def _finish(waited: asyncio.Future[ResultT], task: asyncio.Task[ResultT]) -> None:
    def finish() -> None:
        if waited.done():
            return  # its caller has left
        if task.cancelled():
            waited.set_exception(UnreachableStoreError(_CLOSED))
        elif (error := task.exception()) is not None:
            waited.set_exception(error)
        else:
            waited.set_result(task.result())

    if not task.cancelled():
        task.exception()  # is looked at, also where nobody waits any more
    with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
        waited.get_loop().call_soon_threadsafe(finish)
