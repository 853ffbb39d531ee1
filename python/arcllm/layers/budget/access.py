"""How event loops use the file of a budget: at once where nobody is in the way, else by a thread.

A thread for each use would take longer than the use itself. A file that is busy, slow or not open yet
never blocks an event loop: one thread waits for it, in the order in which it was asked to.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Protocol, TypeVar

from anyio import CancelScope
from anyio.to_thread import run_sync

from amplifier_core import world

from .store import BudgetStore, StoreBusyError

_SLOW_SECONDS = 0.005
"""A file that took longer the last time, such as one on a network, is left to the thread."""

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Use(Protocol[T_co]):
    """What is done with the file."""

    def __call__(self, *, waits: bool) -> T_co:
        """Do it; without `waits`, raise `StoreBusyError` where it would have to wait."""
        ...


class BudgetAccess:
    """The use of one file by event loops.

    Args:
        store: The file.
    """

    def __init__(self, store: BudgetStore) -> None:
        self._store = store
        self._is_slow = False
        self._worker: ThreadPoolExecutor | None = None
        self._process = 0
        self._lock = Lock()

    async def use(self, use: Use[T], undo: Callable[[T], object] | None = None) -> T:
        """Use the file, and return what comes of it.

        What has begun is done to its end, also if the task is cancelled while it waits for it.

        Args:
            use: What is done.
            undo: Called with what came of it, by the thread, if the task was cancelled. Without it,
                a cancelled scope waits for the end.

        Raises:
            ArcLLMBudgetFileError: The file cannot be used.
        """
        if not self._is_slow:
            try:
                return self._use_in_time(use, waits=False)
            except StoreBusyError:
                pass
        future = self._submit(lambda: self._use_in_time(use, waits=True))
        with CancelScope(shield=undo is None):
            try:
                await run_sync(future.exception, abandon_on_cancel=True)
            except BaseException:
                if undo is not None:
                    self._submit(lambda: None if future.exception() else undo(future.result()))
                raise
        return future.result()

    async def close(self) -> None:
        """Close the file once all that has begun is done; a later use opens it again."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is None or self._process != os.getpid():
            self._store.close()
            return
        closed = worker.submit(self._store.close)
        worker.shutdown(wait=False)
        await run_sync(closed.result, abandon_on_cancel=True)

    def _use_in_time(self, use: Use[T], *, waits: bool) -> T:
        began = world.monotonic()
        try:
            return use(waits=waits)
        finally:
            self._is_slow = world.monotonic() - began > _SLOW_SECONDS

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        """Let the thread do something after all that it has to do."""
        with self._lock:
            # The threads of a process are not in one that was forked off.
            if self._worker is None or self._process != os.getpid():
                self._worker = ThreadPoolExecutor(1, "arcllm-budget")
                self._process = os.getpid()
            return self._worker.submit(work)
