"""Coroutines that ignore their cancellation: they are left behind after a grace."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import CoroutineType, coroutine
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from .interruption import is_ending

if TYPE_CHECKING:
    import asyncio


Steps = Coroutine[Any, Any, Any]
"""What can be gone through step by step."""


class Leaving:
    """The await of something that cannot hold its caller longer than a grace once it must end.

    It runs in the task that awaits it, as with any `await`: a result is never lost. If it does not
    end in time, the rest of it runs on in a task of its own; its result is ignored, and there is a
    warning. That task ends when it is cancelled, as at the end of `asyncio.run`. Under trio no task
    can be left behind: what ignores its cancellation keeps the caller waiting.
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
        """Go on with a coroutine whose first step was done, by `rest`, or with `await` by `await_rest`.

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
                    if _BEGINNING:
                        yield from _let_begin(error)
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

        loop, steps = asyncio.get_running_loop(), self._steps
        until = loop.time() + self._grace + (self._more() if self._more is not None else 0.0)
        rest = _Rest(steps, awaited)
        try:
            while loop.time() < until:
                try:
                    # What is no future is for the event loop to refuse.
                    if asyncio.isfuture(awaited):
                        yield from rest.wait(loop, until)
                    else:
                        yield awaited
                except GeneratorExit:
                    raise
                except BaseException as raised:  # noqa: BLE001 (for the coroutine to handle)
                    error = raised
                else:
                    error = None
                    if rest.is_awaited and not awaited.done():
                        break
                if _BEGINNING:
                    error = yield from _let_begin(error)
                awaited = steps.send(None) if error is None else steps.throw(error)
                rest = _Rest(steps, awaited)
        except StopIteration as stop:
            return stop.value
        except GeneratorExit:
            steps.close()
            raise
        rest.leave(loop)
        self._logger.warning(
            "%s ignores its cancellation; it is left behind, and its result is ignored", self._what
        )
        raise asyncio.CancelledError


def _let_begin(error: BaseException | None) -> Generator[Any, None, BaseException | None]:
    """Let the tasks of other rests begin to await: until then nobody else may await the same.

    Args:
        error: What the coroutine is about to hear of, if it is something.

    Returns:
        The error, or else the cancellation that has arrived meanwhile.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    while any(rest.loop is loop for rest in tuple(_BEGINNING)):
        try:
            yield
        except asyncio.CancelledError as cancelled:
            error = error or cancelled
    return error


class _Rest:
    """What is left of a coroutine that awaits something.

    A task of its own awaits that, so that the caller can stop waiting. It goes on with the coroutine
    only if that was left behind by then.
    """

    loop: Any = None
    """The event loop of the task."""

    def __init__(self, steps: Steps, awaited: Any) -> None:
        self._steps = steps
        self._awaited = awaited
        self._is_left = False
        self.is_awaited = False
        """Whether there is the task."""

    def wait(self, loop: asyncio.AbstractEventLoop, until: float) -> Generator[Any, None, None]:
        """Wait for what the coroutine awaits, as its task would, but no longer than this.

        Raises:
            CancelledError: The coroutine has to hear at once that its task is cancelled.
        """
        import asyncio

        gate, awaited = loop.create_future(), self._awaited

        def open_gate(_: object = None) -> None:
            if not gate.done():
                gate.set_result(None)

        self._begin(loop)
        timer = loop.call_at(until, open_gate)
        awaited.add_done_callback(open_gate)
        try:
            while not awaited.done():
                try:
                    yield from gate
                except asyncio.CancelledError as error:
                    if not awaited.cancel(*error.args):
                        raise
                    gate = loop.create_future()
                else:
                    break
        finally:
            timer.cancel()
            awaited.remove_done_callback(open_gate)

    def leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the task go on with the coroutine; nobody waits for it."""
        self._is_left = True
        if not self.is_awaited:
            self._begin(loop)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        from ._silent_task import begin_silently

        self.is_awaited, self.loop = True, loop
        _BEGINNING.add(self)
        begin_silently(self._go_on(), loop)

    async def _go_on(self) -> None:
        try:
            await self
        except GeneratorExit:
            raise
        except BaseException:  # noqa: BLE001, S110 (its result is ignored)
            pass

    def __await__(self) -> Generator[Any, None, None]:
        import asyncio

        task: Any = asyncio.current_task()
        steps, awaited = self._steps, self._awaited
        error: BaseException | None = None
        _BEGINNING.discard(self)
        try:
            # Once it has ignored the end of the program, too, it goes on no more.
            while not task.cancelling():
                try:
                    yield awaited
                except GeneratorExit:
                    raise
                except BaseException as raised:  # noqa: BLE001 (for the coroutine to handle)
                    error = raised
                if not self._is_left:
                    return
                awaited = steps.send(None) if error is None else steps.throw(error)
                error = None
        except StopIteration:
            return
        finally:
            if self._is_left:
                steps.close()


_BEGINNING: WeakSet[_Rest] = WeakSet()
"""The rests whose tasks have not begun; only before Python 3.12, where a task begins later."""


def as_coroutine(awaitable: Awaitable[Any]) -> Steps:
    """Return what can be gone through step by step."""
    if type(awaitable) is CoroutineType:
        return cast("Steps", awaitable)

    async def await_whole() -> Any:
        return await awaitable

    return await_whole()
