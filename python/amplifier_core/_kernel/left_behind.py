"""Coroutines that ignore their cancellation: they are left behind after a grace."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import CoroutineType, coroutine
from typing import TYPE_CHECKING, Any, cast

from .interruption import is_ending

if TYPE_CHECKING:
    import asyncio


Steps = Coroutine[Any, Any, Any]
"""What can be gone through step by step."""


class Leaving:
    """The await of something that cannot hold its caller longer than a grace once it must end.

    It runs in the task that awaits it, as with any `await`: a result is never lost. If it does not
    end in time, the rest of it is cancelled once more and runs on in a task of its own; its result is
    ignored, and there is a warning. Under trio no task can be left behind: what ignores its
    cancellation keeps the caller waiting.
    """

    __slots__ = ("_grace", "_is_meant", "_logger", "_more", "_steps", "_what")

    def __init__(
        self,
        steps: Steps,
        grace: float,
        what: str,
        logger: logging.Logger,
        is_meant: Callable[[], bool] = is_ending,
        more: Callable[[], float] | None = None,
    ) -> None:
        """Go on with a coroutine whose first step was done, by `rest` or with `await` by `awaited`.

        Args:
            steps: The coroutine.
            grace: Seconds that it may take to end after its cancellation.
            what: What is awaited, for the warning.
            logger: Where the warning goes.
            is_meant: Whether the cancellation that has just arrived is one that begins the grace.
                Scopes and time limits inside cancel the task, too; by default it is an
                `Interruption` around.
            more: Returns how many seconds longer the grace is, once it begins: for graces within.
        """
        self._steps = steps
        self._grace = grace
        self._what = what
        self._logger = logger
        self._is_meant = is_meant
        self._more = more

    @coroutine
    def await_rest(self, awaited: Any) -> Generator[Any, None, Any]:
        """Go on with the coroutine, as `rest` does."""
        return (yield from self.rest(awaited))

    def rest(self, awaited: Any) -> Generator[Any, None, Any]:
        """Go on with the coroutine, which awaits something.

        Raises:
            CancelledError: The rest of it was left behind.
        """
        asyncio: Any = sys.modules.get("asyncio")
        cancelled = asyncio.CancelledError if asyncio else ()
        steps = self._steps
        try:
            while True:
                try:
                    value = yield awaited
                except GeneratorExit:
                    steps.close()
                    raise
                except cancelled as error:
                    awaited = steps.throw(error)
                    if self._is_meant():
                        break
                except BaseException as error:  # noqa: BLE001 (for the coroutine to handle)
                    awaited = steps.throw(error)
                else:
                    awaited = steps.send(value)
        except StopIteration as stop:
            return stop.value
        return (yield from self._within_grace(awaited))

    def _within_grace(self, awaited: Any) -> Generator[Any, None, Any]:
        """Go on with a cancelled coroutine that awaits something more."""
        import asyncio

        loop = asyncio.get_running_loop()
        until = loop.time() + self._grace + (self._more() if self._more is not None else 0.0)
        try:
            while loop.time() < until:
                error = yield from _pause(loop, awaited, until)
                if error is not None:
                    awaited = self._steps.throw(error)
                elif awaited is None or awaited.done():
                    awaited = self._steps.send(None)
        except StopIteration as stop:
            return stop.value
        except GeneratorExit:
            self._steps.close()
            raise
        _leave(loop, self._steps, awaited)
        self._logger.warning(
            "%s ignores its cancellation; it is left behind, and its result is ignored", self._what
        )
        raise asyncio.CancelledError


def _pause(
    loop: asyncio.AbstractEventLoop, awaited: Any, until: float
) -> Generator[Any, None, BaseException | None]:
    """Wait for what a coroutine awaits, as its task would, but no longer than this.

    Returns:
        The cancellation of the task, if the coroutine has to hear of it at once.
    """
    import asyncio

    gate = loop.create_future()

    def open_gate(_: object = None) -> None:
        if not gate.done():
            gate.set_result(None)

    timer = loop.call_at(until, open_gate)
    if awaited is None:
        loop.call_soon(open_gate)
    else:
        awaited._asyncio_future_blocking = False
        awaited.add_done_callback(open_gate)
    try:
        yield from gate
    except asyncio.CancelledError as error:
        return error if awaited is None or not awaited.cancel(*error.args) else None
    finally:
        timer.cancel()
        if awaited is not None:
            awaited.remove_done_callback(open_gate)
    return None


class _Rest:
    """What is left of a coroutine that waits for something."""

    def __init__(self, steps: Steps, awaited: Any) -> None:
        self._steps = steps
        self._awaited = awaited

    def __await__(self) -> Generator[Any, None, None]:
        steps, awaited = self._steps, self._awaited
        if awaited is not None:
            awaited._asyncio_future_blocking = True
        try:
            while True:
                try:
                    yield awaited
                except GeneratorExit:
                    steps.close()
                    raise
                except BaseException as error:  # noqa: BLE001 (for the coroutine to handle)
                    awaited = steps.throw(error)
                else:
                    awaited = steps.send(None)
        except StopIteration:
            return


def _leave(loop: asyncio.AbstractEventLoop, steps: Steps, awaited: Any) -> None:
    """Run the rest of a coroutine in a task that nobody waits for, not even the program's end."""
    import asyncio

    async def rest() -> None:
        try:
            await _Rest(steps, awaited)
        except GeneratorExit:
            raise
        except BaseException:  # noqa: BLE001, S110 (its result is ignored)
            pass

    task = loop.create_task(rest())
    asyncio._unregister_task(task)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] -- documented, not in the stubs
    task._log_destroy_pending = False  # pyright: ignore[reportAttributeAccessIssue] -- as asyncio itself does for tasks that it leaves


def steps_of(awaitable: Awaitable[Any]) -> Steps:
    """Return what can be gone through step by step."""
    if type(awaitable) is CoroutineType:
        return cast("Steps", awaitable)

    async def whole() -> Any:
        return await awaitable

    return whole()
