"""A call that is cancelled at one of its awaits."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

import sniffio

T = TypeVar("T")


class Steps(Generic[T]):
    """A coroutine whose suspensions are counted; at one of them something is called.

    What is called there cancels the task, so that the cancellation is thrown at this very await.
    """

    def __init__(
        self, work: Coroutine[Any, Any, T], at: int, reached: Callable[[], object]
    ) -> None:
        """Count the suspensions of `work`, and call `reached` at number `at`, from 1."""
        self._work = work
        self._at = at
        self._reached = reached
        self.count = 0

    def __await__(self) -> Generator[Any, Any, T]:
        """Run the coroutine, and pass on what it awaits."""
        steps = self._work.__await__()
        value: Any = None
        error: BaseException | None = None
        while True:
            try:
                awaited = steps.send(value) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value
            self.count += 1
            if self.count == self._at:
                self._reached()
            value = error = None
            try:
                value = yield awaited
            except BaseException as thrown:  # noqa: BLE001 -- it is thrown into the call
                error = thrown


class Cancelled(Exception):
    """The call ended with its cancellation."""


async def cancelled_at(work: Coroutine[Any, Any, T], at: int) -> T:
    """Run a coroutine, and cancel it at its suspension number `at`.

    Under asyncio it is cancelled as a task, under trio by a scope.

    Returns:
        What it returns if it has fewer suspensions.

    Raises:
        Cancelled: It ended with the cancellation.
    """
    if sniffio.current_async_library() == "trio":
        import trio

        with trio.CancelScope() as scope:
            return await Steps(work, at, scope.cancel)
        raise Cancelled
    import asyncio

    async def step_through() -> T:
        return await Steps(work, at, task.cancel)

    task = asyncio.ensure_future(step_through())
    try:
        return await task
    except asyncio.CancelledError:
        if not task.cancelled():
            task.cancel()
            raise  # of the test itself
        raise Cancelled from None
