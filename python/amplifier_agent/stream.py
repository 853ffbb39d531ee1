"""A turn as a stream of events that ends with its result."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Generic, Never, Self, TypeAlias

import anyio
import anyio.lowlevel

from amplifier_core.event_loop import find_asyncio_loop
from amplifier_modules.running.background import start_task
from amplifier_providers.running.run_sync import LoopThread

from .event import Event
from .handover import Handover
from .result import Result
from .type_parameters import T_co

TakeEvent: TypeAlias = Handover[Event]
"""Takes the events of a turn."""


class Stream(AsyncIterator["Event | Result[T_co]"], Generic[T_co]):
    """The events of a turn; the last item is its `Result`.

    The turn starts at the first item, in a task of its own. It runs ahead by at most 64 pieces of
    an answer; a request to the model, a question, the start of a tool and the result come when all
    events before them were taken, so that what is said at an event holds for what follows.
    Leaving the loop drops the stream, which cancels the turn; a stream with a name is left with
    `async with`, which also waits for its end.
    """

    __slots__ = ("__weakref__", "_check", "_result", "_run", "_thread", "_turn")

    def __init__(
        self,
        run: Callable[[TakeEvent], Awaitable[Result[T_co]]],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Make a stream of what `run` does; agents and sessions do this.

        Args:
            run: Runs the turn, in a task of its own.
            check: Raises where the turn cannot begin, in the task that takes the first item.
        """
        self._run: Callable[[TakeEvent], Awaitable[Any]] | None = run
        self._check = check
        self._turn: _Turn | None = None
        self._result: Result[T_co] | None = None
        self._thread = LoopThread()

    @property
    def result(self) -> Result[T_co]:
        """The result of the turn.

        Raises:
            RuntimeError: The turn has not ended, or not with a result.
        """
        if self._result is None:
            raise RuntimeError("the stream has no result yet: take its items to the end first")
        return self._result

    def __aiter__(self) -> Self:
        """Return the stream itself."""
        return self

    def __iter__(self) -> Never:
        """Refuse a plain `for`.

        Raises:
            TypeError: Always.
        """
        raise TypeError("a stream of events is asynchronous: use `async for`")

    async def __anext__(self) -> Event | Result[T_co]:
        """Return the next event, at the end the result.

        Raises:
            Exception: What the turn raised.
        """
        turn = self._turn or self._begin()
        task = id(turn.find_task())
        if task != turn.taker:
            self._thread.enter()
            turn.taker = task
        while (event := turn.take_now()) is None:
            if turn.handover.is_over:
                break
            await turn.handover.expect_item()
        else:
            return event
        self._turn = None
        if turn.error is not None:
            raise turn.error
        if turn.result is None:
            raise StopAsyncIteration
        self._result = turn.result
        return turn.result

    def _begin(self) -> _Turn:
        """Begin the turn.

        Raises:
            StopAsyncIteration: It is over.
            RuntimeError: It cannot begin here.
        """
        if self._run is None:
            raise StopAsyncIteration
        self._thread.enter()
        self._check()
        run, self._run = self._run, None
        self._turn = _Turn(run)
        start_task(self._turn.run)
        return self._turn

    def is_taken_by(self, task: int) -> bool:
        """Whether the turn runs and this task takes its events."""
        return self._turn is not None and self._turn.taker == task

    async def aclose(self) -> None:
        """Cancel the turn if it runs, and wait for its end."""
        turn, self._turn = self._turn, None
        self._run = None
        if turn is None:
            return
        turn.leave()
        with anyio.CancelScope(shield=True):
            await turn.wait_for_end()

    async def __aenter__(self) -> Self:
        """Return the stream itself."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close the stream."""
        await self.aclose()

    def __del__(self) -> None:
        """Cancel the turn if it runs."""
        turn = getattr(self, "_turn", None)
        if turn is not None:
            # Where a task is being cancelled, trio may keep the frame of this call, and so the stream.
            self._turn = None
            with suppress(RuntimeError):  # its event loop is closed
                self._thread.call(turn.leave)


class _Turn:
    """What the task of a turn holds; not the stream, which can be dropped meanwhile."""

    __slots__ = (
        "_ended",
        "_is_over",
        "_run",
        "_scope",
        "error",
        "find_task",
        "handover",
        "result",
        "take_now",
        "taker",
    )

    def __init__(self, run: Callable[[TakeEvent], Awaitable[Any]]) -> None:
        self._run = run
        self._scope = anyio.CancelScope()
        self._is_over = False
        self._ended: anyio.Event | None = None
        """What is waited for where the stream is closed before the end."""
        self.handover: TakeEvent = Handover()
        self.take_now = self.handover.take_now
        self.find_task = _task_finder()
        """Returns the task that runs."""
        self.result: Any = None
        self.error: BaseException | None = None
        self.taker: int | None = None
        """The id of the task that takes the events."""

    async def run(self) -> None:
        try:
            with self._scope:
                self.result = await self._run(self.handover)
        except BaseException as error:  # noqa: BLE001 - raised where the items are taken
            self.error = error
            if not isinstance(error, Exception):
                self.error = error.with_traceback(None)
        finally:
            self.handover.finish()
            self._is_over = True
            if self._ended is not None:
                self._ended.set()

    async def wait_for_end(self) -> None:
        if self._is_over:
            await anyio.lowlevel.checkpoint()
            return
        self._ended = self._ended or anyio.Event()
        await self._ended.wait()

    def leave(self) -> None:
        # First, as what waits until all is taken is to end there, not to go on.
        self._scope.cancel()
        self.handover.abandon()


def _task_finder() -> Callable[[], object]:
    """Return what finds the running task: `anyio` takes as long for it as all else of an item."""
    if find_asyncio_loop() is None:
        return sys.modules["trio"].lowlevel.current_task
    return sys.modules["asyncio"].current_task
