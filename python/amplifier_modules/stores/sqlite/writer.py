"""The thread that does the work of a store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

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
        future = self._threads.submit(work)
        if find_asyncio_loop() is None:
            return await anyio.to_thread.run_sync(future.result)
        return await _await_to_end(future)

    def stop(self) -> None:
        """End the thread; it starts again at the next call."""
        threads, self._threads = self._threads, None
        if threads is not None and self._process == os.getpid():
            threads.shutdown(wait=False)


async def _await_to_end(future: Future[ResultT]) -> ResultT:
    waited = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(waited)
    except asyncio.CancelledError:
        while not waited.done():
            try:
                await asyncio.shield(waited)
            except asyncio.CancelledError:
                continue
            except Exception:  # noqa: BLE001 -- the cancellation is raised
                break
        if not waited.cancelled():
            waited.exception()
        raise
