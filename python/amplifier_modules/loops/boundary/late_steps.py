"""Coroutines that do their first step before their task runs, which most of them never need."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio

_NOTHING: Final = object()


class LateSteps(Coroutine[Any, Any, None]):
    """What a task of asyncio runs: the rest of a coroutine that did its first step without it.

    The task is the current one during that step, so that time limits and scopes know it. A coroutine
    that waits for nothing leaves it to the next one; a task that none of them took ends at once.
    """

    __slots__ = ("_asyncio", "_awaited", "_context", "_loop", "_steps", "on_end", "task")

    on_end: Callable[[], None]
    """Called at the end of a coroutine that has not ended with its first step."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make the task, which begins later."""
        import asyncio

        self._asyncio: Any = asyncio
        self._loop = loop
        self._steps: Coroutine[Any, Any, None] | None = None
        self._awaited: Any = _NOTHING
        # Not by the factory of the event loop, which may begin tasks at once.
        self.task: asyncio.Task[None] | None = asyncio.Task(self, loop=loop)
        """The task, until a coroutine took it."""

    @property
    def is_free(self) -> bool:
        """Whether a coroutine can do its first step with this task."""
        task: Any = self.task
        # One that was cancelled would cancel the next coroutine.
        return not (task is None or task.done() or task.cancelling() or task._must_cancel)

    def begin(self, steps: Coroutine[Any, Any, None]) -> Any:
        """Do the first step of a coroutine; return the task that goes on with it, None at its end."""
        asyncio, loop, task = self._asyncio, self._loop, self.task
        context, around = copy_context(), asyncio.current_task(loop)
        if around is not None:
            asyncio._leave_task(loop, around)
        asyncio._enter_task(loop, task)
        try:
            self._awaited = context.run(steps.send, None)
        except (StopIteration, asyncio.CancelledError):
            return None
        finally:
            asyncio._leave_task(loop, task)
            if around is not None:
                asyncio._enter_task(loop, around)
        self._steps, self._context, self.task = steps, context, None
        return task

    def send(self, value: Any) -> Any:
        """Go on with a value; at first, return what the first step waits for."""
        if self._steps is None:
            self.task = None  # a cycle of both would keep the whole turn
            raise StopIteration
        if self._awaited is not _NOTHING:
            awaited, self._awaited = self._awaited, _NOTHING
            return awaited
        return self._go_on(self._steps.send, value)

    def throw(self, error: Any, value: Any = None, traceback: Any = None, /) -> Any:
        """Go on with an error; event loops give no more than that."""
        del value, traceback
        if self._steps is None:
            self.task = None
            raise error
        awaited, self._awaited = self._awaited, _NOTHING
        # The task did not know yet what it waits for, and so has not cancelled that.
        if hasattr(awaited, "cancel") and awaited.cancel(*error.args):
            return awaited
        return self._go_on(self._steps.throw, error)

    def __await__(self) -> Generator[Any, None, None]:
        """Refuse to be awaited but by the task.

        Raises:
            TypeError: Always.
        """
        raise TypeError("only its task can go on with it")

    def close(self) -> None:
        """Close the coroutine."""
        if self._steps is not None:
            self._steps.close()

    def _go_on(self, step: Callable[[Any], Any], value: Any) -> Any:
        try:
            return self._context.run(step, value)
        except BaseException:
            # Here, and not when the task is done, which takes the event loop once more.
            self.on_end()
            raise
