"""Time limits for awaitables, under asyncio and trio."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio

logger = logging.getLogger("amplifier_core.hooks")

GRACE_SECONDS = 0.1
"""How long what is cancelled may take to end before it is left behind."""


class Expired:
    """The type of `EXPIRED`."""

    def __repr__(self) -> str:
        """Name the marker."""
        return "EXPIRED"


EXPIRED: Final = Expired()
"""What `limited` returns instead of a result after a timeout."""


def _is_asyncio() -> bool:
    import asyncio

    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


async def await_within(awaitable: Awaitable[Any], seconds: float, what: str) -> Any:
    """Await for at most `seconds`; `EXPIRED` if that was too short.

    Under asyncio it runs in a task of its own, in a copy of the context, and what it sets there is
    taken over if it ends in time. At the limit, and when the caller is cancelled, it is cancelled;
    if it does not end then, it is left behind with a warning, and its result is ignored. Under trio
    no task can be left behind: one that ignores its cancellation keeps the caller waiting.

    Args:
        awaitable: What is awaited. A `TimeoutError` of its own is raised as any other error.
        seconds: The limit.
        what: What is awaited, for the warning.
    """
    if _is_asyncio():
        return await _in_its_own_task(_Outcome(awaitable, what), seconds)

    import anyio

    with anyio.move_on_after(seconds):
        return await awaitable
    return EXPIRED


class _Outcome:
    """An awaitable, and how it ended."""

    def __init__(self, awaitable: Awaitable[Any], what: str) -> None:
        self._awaitable = awaitable
        self.what = what
        self.settling = self._settle()
        """What the task runs."""
        self._has_begun = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._context: Context | None = None

    async def _settle(self) -> None:
        """Await it. Nothing is raised here: it is for the task that waits, if that still does."""
        self._has_begun = True
        try:
            self._value = await self._awaitable
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001 (raised by `result`)
            self._error = error
        self._context = copy_context()

    def result(self) -> Any:
        """Return or raise what it did, with the context variables that it set."""
        for variable, value in (self._context or Context()).items():
            if variable.get(_UNSET) is not value:
                variable.set(value)
        error, self._error = self._error, None
        if error is None:
            return self._value
        try:
            raise error
        finally:
            del error

    def discard(self) -> None:
        """Close what was cancelled before it began; Python would say that nobody awaited it."""
        if self._has_begun:
            return
        self.settling.close()
        close = getattr(self._awaitable, "close", None)
        if close is not None:
            close()


_UNSET: Final = object()


async def _in_its_own_task(outcome: _Outcome, seconds: float) -> Any:
    import asyncio

    task = asyncio.get_running_loop().create_task(outcome.settling)
    try:
        await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        await _end(task, f"{outcome.what} ignores the cancellation of its caller")
        outcome.discard()
        raise
    except BaseException:
        # The coroutine that waits is closed: there may be no loop any more.
        _cancel(task)
        outcome.discard()
        raise
    if task.done():
        return outcome.result()
    late = f"{outcome.what} did not end within {seconds:g} s and ignores its cancellation"
    if await _end(task, late):
        raise asyncio.CancelledError
    return EXPIRED


async def _end(task: asyncio.Task[None], complaint: str) -> bool:
    """Cancel a task and leave it behind if it does not end; true if the caller is cancelled."""
    import asyncio

    loop = asyncio.get_running_loop()
    until, is_cancelled = loop.time() + GRACE_SECONDS, False
    _cancel(task)
    while not task.done() and (left := until - loop.time()) > 0:
        try:
            await asyncio.wait((task,), timeout=left)
        except asyncio.CancelledError:
            # Again, by anyio at every turn of its loop: the wait is short and has an end.
            is_cancelled = True
    if not task.done():
        logger.warning("%s; it is left behind, and its result is ignored", complaint)
        # The program may end without it.
        asyncio._unregister_task(task)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] -- documented, not in the stubs
        _silence_task(task)
    return is_cancelled


def _cancel(task: asyncio.Task[None]) -> None:
    try:
        task.cancel()
    except RuntimeError:  # the loop is closed
        _silence_task(task)


def _silence_task(task: asyncio.Task[None]) -> None:
    """Have a task end without a word when it is collected before its end."""
    task._log_destroy_pending = False  # pyright: ignore[reportAttributeAccessIssue] -- as asyncio itself does for tasks that it leaves
