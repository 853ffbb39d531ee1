"""Asynchronous work for callers without `await`, and calls into the thread of an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar, cast

from amplifier_core.event_loop import find_asyncio_loop

from .kept_loop import run_in_kept_loop

ResultT = TypeVar("ResultT")

SIGNAL_CHECK_SECONDS = 0.5
"""A thread that waits looks so often whether a signal came just before."""


def run_sync(
    work: Callable[[], Coroutine[Any, Any, ResultT]], *, called: str, instead: str
) -> ResultT:
    """Run work to its end.

    Args:
        work: Returns the coroutine.
        called: The function that the user called, for the warning where an event loop runs.
        instead: What would not hold the loop up.

    Raises:
        KeyboardInterrupt: Ctrl+C; the work was cancelled first.
        Exception: What the work raised.
    """
    if not is_in_loop():
        return run_in_kept_loop(work)
    warn_in_loop(called, instead, stacklevel=4)
    run = ThreadRun(work, called)
    with interrupts():
        try:
            run.start()
            run.join()
        except KeyboardInterrupt:
            run.stop()
            run.join()
            raise
    return run.result()


def warn_in_loop(called: str, instead: str, stacklevel: int) -> None:
    """Warn that an event loop is held up; a notebook has one in any case."""
    if not _is_notebook():
        warnings.warn(
            f"`{called}` was called where an event loop runs, and holds it up; use `{instead}`",
            RuntimeWarning,
            stacklevel=stacklevel,
        )


class ThreadRun(Generic[ResultT]):
    """Work in a thread of its own.

    Args:
        work: Returns the coroutine.
        name: The name of the thread.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, ResultT]], name: str) -> None:
        self._work = work
        self._name = name
        self._thread: threading.Thread | None = None
        self._result: ResultT | None = None
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._is_stopping = False
        self._cancel: Callable[[], object] = lambda: None

    def start(self) -> None:
        """Begin."""
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(self._run_loop,), name=self._name)
        try:
            thread.start()
        finally:  # Ctrl+C may come while it waits for the thread to run
            self._thread = thread if thread.ident is not None else None

    def stop(self) -> None:
        """Cancel the work, from any thread."""
        self._is_stopping = True
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._cancel()

    def join(self) -> None:
        """Wait for the end; the thread itself, where garbage is collected, does not wait."""
        # Not `Thread.join`, which takes the thread for ended once it was interrupted (3.11).
        if self._thread is not None and threading.current_thread() is not self._thread:
            # A signal that comes just before a wait is seen when it is over.
            while not self._ended.wait(SIGNAL_CHECK_SECONDS):
                pass

    def result(self) -> ResultT:
        """Return what the work returned, or raise what it raised, after its end."""
        if self._error is not None:
            raise self._error
        return cast("ResultT", self._result)

    def _run_loop(self) -> None:
        import sniffio

        # In the copied context it may still be that of the thread that waits.
        sniffio.current_async_library_cvar.set(None)
        try:
            self._result = run_in_kept_loop(self._run_stoppable)
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            self._error = error
        finally:
            self._ended.set()

    async def _run_stoppable(self) -> ResultT:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        if task is not None:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if self._is_stopping:
                task.cancel()
        return await self._work()


@contextmanager
def interrupts() -> Generator[None]:
    """Let Ctrl+C raise here: asyncio would cancel a task, which cannot hear of it while it waits."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def is_in_loop() -> bool:
    """Whether an event loop runs in this thread."""
    import sniffio

    try:
        sniffio.current_async_library()
    except sniffio.AsyncLibraryNotFoundError:
        return False
    return True


def _is_notebook() -> bool:
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return callable(shell) and shell() is not None


class LoopThread:
    """Calls functions in the thread of one event loop, asyncio's or trio's."""

    __slots__ = ("_loop", "_thread")

    def __init__(self) -> None:
        """Belong to no loop yet."""
        self._loop: Any = None
        """Its event loop, of trio the token; a method of it would be one object more."""
        self._thread: int | None = None

    def enter(self) -> None:
        """Belong to the loop that runs here.

        Raises:
            RuntimeError: It belongs to another one.
        """
        thread = threading.get_ident()
        if self._thread is not None:
            if self._thread != thread:
                raise RuntimeError("a `Session` belongs to one event loop, and was used in another")
            return
        self._thread, self._loop = thread, _find_loop()

    def call(self, function: Callable[[], object]) -> None:
        """Call a function: at once in the loop's own thread, else soon."""
        if self._loop is None or threading.get_ident() == self._thread:
            function()
        else:
            _caller_into(self._loop)(function)


def caller_into_loop() -> Callable[[Callable[[], object]], Any]:
    """Return what calls a function soon in the event loop that runs here, from any thread."""
    return _caller_into(_find_loop())


def _find_loop() -> Any:
    """Return the event loop that runs here, of trio its token."""
    loop = find_asyncio_loop()
    if loop is not None:
        return loop
    import sniffio

    sniffio.current_async_library()  # raises where none runs
    return sys.modules["trio"].lowlevel.current_trio_token()


def _caller_into(loop: Any) -> Callable[[Callable[[], object]], Any]:
    """Return what calls a function soon in an event loop, from any thread."""
    return getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon
