"""The thread that does the work of a store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread

from amplifier_core.event_loop import find_asyncio_loop

ResultT = TypeVar("ResultT")


class Writer:
    """One thread, started at the first call, in which calls run one after the other.

    A call that has begun is finished, also where its caller is cancelled: that waits for it first.
    In a forked process the thread is another one.
    """

    def __init__(self, name: str) -> None:
        """Give the thread a name."""
        self._name = name
        self._threads: ThreadPoolExecutor | None = None
        self._process = 0

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        """Return what the work returns.

        Raises:
            Exception: What it raises.
        """
        if self._threads is None or self._process != os.getpid():
            self._threads = ThreadPoolExecutor(1, self._name)
            self._process = os.getpid()
        loop = find_asyncio_loop()
        if loop is None:
            future = self._threads.submit(work)
            return await anyio.to_thread.run_sync(future.result)
        waited: _Work[ResultT] = _Work(loop=loop)
        self._threads.submit(_do_work, work, waited)
        return await waited

    def stop(self) -> None:
        """End the thread; it starts again at the next call."""
        threads, self._threads = self._threads, None
        if threads is not None and self._process == os.getpid():
            threads.shutdown(wait=False)


class _Work(asyncio.Future[ResultT]):
    """Work under way: a task that is cancelled while it waits for it ends when that is done."""

    def cancel(self, msg: Any | None = None) -> bool:
        """Do nothing; asyncio then raises the cancellation in the task when it goes on."""
        del msg
        return False


def _do_work(work: Callable[[], ResultT], waited: _Work[ResultT]) -> None:
    finish: Callable[[], None]
    try:
        finish = partial(waited.set_result, work())
    except BaseException as error:  # noqa: BLE001 -- raised where it is awaited
        finish = partial(waited.set_exception, error)
    with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
        waited.get_loop().call_soon_threadsafe(finish)
