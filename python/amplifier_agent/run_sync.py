"""A turn without `await`, wherever it is called."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


def run_sync(turn: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
    """Run a turn to its end.

    Raises:
        KeyboardInterrupt: Ctrl+C; the turn was cancelled first.
        Exception: What the turn raised.
    """
    if not _is_in_loop():
        return asyncio.run(turn())
    if not _is_notebook():
        warnings.warn(
            "`run_sync` was called where an event loop runs, and holds it up; use `await run(...)`",
            RuntimeWarning,
            stacklevel=4,
        )
    return _Threaded(turn).run()


class _Threaded:
    """A turn in a thread of its own."""

    def __init__(self, turn: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._turn = turn
        self._result: Any = None
        self._error: BaseException | None = None
        self._stop: Callable[[], object] = lambda: None

    def run(self) -> Any:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(self._work,), name="agent-run-sync")
        thread.start()
        try:
            thread.join()
        except KeyboardInterrupt:
            self._stop()
            thread.join()
            raise
        if self._error is not None:
            raise self._error
        return self._result

    def _work(self) -> None:
        try:
            self._result = asyncio.run(self._stoppable())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            self._error = error

    async def _stoppable(self) -> Any:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        if task is not None:
            self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        return await self._turn()


def _is_in_loop() -> bool:
    import sniffio

    try:
        sniffio.current_async_library()
    except sniffio.AsyncLibraryNotFoundError:
        return False
    return True


def _is_notebook() -> bool:
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return callable(shell) and shell() is not None
