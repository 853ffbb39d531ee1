"""A turn without `await`, wherever it is called."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
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
            stacklevel=3,
        )
    return _Threaded(turn).run()


class _Threaded:
    """A turn in a thread of its own."""

    def __init__(self, turn: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._turn = turn
        self._result: Any = None
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._is_stopping = False
        self._stop: Callable[[], object] = lambda: None

    def run(self) -> Any:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(self._work,), name="agent-run-sync")
        thread.start()
        with _interrupts():
            try:
                # Not `join`, which takes the thread for ended once it was interrupted (3.11).
                self._ended.wait()
            except KeyboardInterrupt:
                self._is_stopping = True
                with suppress(RuntimeError):  # the loop has ended meanwhile
                    self._stop()
                self._ended.wait()
                raise
        if self._error is not None:
            raise self._error
        return self._result

    def _work(self) -> None:
        import sniffio

        # In the copied context it may still be that of the thread that waits.
        sniffio.current_async_library_cvar.set(None)
        try:
            self._result = asyncio.run(self._stoppable())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            self._error = error
        finally:
            self._ended.set()

    async def _stoppable(self) -> Any:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        if task is not None:
            if self._is_stopping:
                task.cancel()
            self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        return await self._turn()


@contextmanager
def _interrupts() -> Generator[None]:
    """Let Ctrl+C raise here: asyncio would cancel a task, which cannot hear of it while it waits."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
