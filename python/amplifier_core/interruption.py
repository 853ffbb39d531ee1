"""Parts of a turn that can be ended at once from outside, under asyncio and trio."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from .event_loop import find_asyncio_task


class Interruption:
    """A block of one task whose awaiting can be ended from outside: `with Interruption(): ...`.

    Under asyncio the task is cancelled once and un-cancelled at the end of the block; under trio the
    block is a cancel scope. Where the cancellation reaches the end of the block, it goes no further:
    `was_caught` says so. A cancellation by anyone else goes on, also one at the same moment.

    With a token the block ends when everything has to stop immediately, if that is asked for while
    the block runs. Of blocks within each other in one task, for one token, the innermost ends, and
    the outer ones leave it to that. With a number of seconds it ends after that time.
    """

    _task: Any = None
    _before = 0
    _timer: Any = None
    _scope: Any = None
    _soon: Callable[[Callable[[], None]], object] | None = None
    _inner: Interruption | None = None
    _outer: Interruption | None = None
    _surrounding: Interruption | None = None
    _shields = 0
    _is_due = False
    _is_over = False
    _is_settled = False
    was_ended = False
    """Whether the block was ended from outside."""
    was_caught = False
    """Whether that ended the block, so that what follows it goes on."""

    def __init__(self, token: Any = None, seconds: float | None = None) -> None:
        """Make a block that ends on a token's request, after a time, or by `end`."""
        self._token: Any = token if hasattr(token, "register_child") else None
        self._seconds = seconds

    def __enter__(self) -> Self:
        """Begin the block, in the running task."""
        task = find_asyncio_task()
        if task is None:
            self._enter_trio()
        else:
            self._task, self._before = task, task.cancelling()
            self._soon = task.get_loop().call_soon_threadsafe
        if self._seconds is not None:
            self.end_at(self.now() + self._seconds)
        self._surrounding = _INNERMOST.get()
        _INNERMOST.set(self)
        if self._token is not None:
            self._listen()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """End the block; true if the error is the end that was asked for."""
        self._is_over = True
        _INNERMOST.set(self._surrounding)
        if self._outer is not None:
            self._outer._inner = None
            self._outer._is_settled |= self.was_ended or self._is_settled
        elif self._token is not None:
            self._token.unregister_child(self)
        if self._scope is not None:
            is_handled = bool(self._scope.__exit__(kind, error, trace))
            self.was_caught = self._scope.cancelled_caught
            return is_handled
        if self._timer is not None:
            self._timer.cancel()
        if self.was_ended:
            is_alone = self._task.uncancel() <= self._before
            self.was_caught = is_alone and _is_cancellation(error)
        return self.was_caught

    def end(self) -> None:
        """End what the block awaits. Call it from the event loop, outside the task."""
        if self._is_over or self.was_ended or self._is_settled:
            return
        if self._scope is not None:
            self.was_ended = True
            self._scope.cancel()
        elif self._shields:
            self._is_due = True
        else:
            self.was_ended = True
            self._task.cancel()

    def end_at(self, time: float) -> None:
        """End the block at this time of the event loop's clock, and no other; `inf` is never."""
        if self._scope is not None:
            self._scope.deadline = time
            return
        if self._timer is not None:
            self._timer.cancel()
        never = time == float("inf")
        self._timer = None if never else self._task.get_loop().call_at(time, self.end)

    def now(self) -> float:
        """Return the time of the event loop's clock, in seconds."""
        if self._scope is not None:
            return sys.modules["trio"].current_time()
        return self._task.get_loop().time()

    def soon(self, function: Callable[[], None]) -> None:
        """Call a function in the event loop, from any thread, unless the block is over by then."""
        if self._soon is not None:
            with suppress(RuntimeError):  # the event loop is closed
                self._soon(lambda: None if self._is_over else function())

    def defer(self) -> None:
        """Put the end off, once more. Trio has shielded scopes for that."""
        self._shields += 1

    def stop_deferring(self) -> None:
        """Take back one `defer`; after the last one, an end that was deferred follows."""
        self._shields -= 1
        if self._is_due and not self._shields and self._soon is not None:
            # From the event loop, so that it ends an await and not the one after the block.
            self._soon(self.end)

    def request_graceful(self) -> bool:
        """Do nothing: what runs now may end by itself."""
        return False

    def request_immediate(self) -> bool:
        """End what the block awaits, from any thread or signal handler. Nothing is locked here."""
        if self._soon is not None:
            try:
                self._soon(self.end_innermost)
            except RuntimeError:  # the event loop is closed
                return False
        return True

    def _enter_trio(self) -> None:
        trio: Any = sys.modules["trio"]  # no dependency: it is there if its event loop runs
        self._task = trio.lowlevel.current_task()
        self._soon = trio.lowlevel.current_trio_token().run_sync_soon
        self._scope = trio.CancelScope()
        self._scope.__enter__()

    def _listen(self) -> None:
        """Take over from the block of the same token and task around this one, if there is one."""
        around = self._surrounding
        while around is not None:
            if around._token is self._token and around._task is self._task and not around._is_over:
                self._outer, around._inner = around, self
                return
            around = around._surrounding
        # A token passes what was asked of it before on to a new child. That is no request to end
        # this block: the loop sees the state of the token itself.
        soon, self._soon = self._soon, None if self._token.is_immediate else self._soon
        self._token.register_child(self)
        self._soon = soon

    def end_innermost(self) -> None:
        """End the innermost of the blocks within this one, for its token and task."""
        innermost = self
        while innermost._inner is not None:
            innermost = innermost._inner
        innermost.end()


_INNERMOST: ContextVar[Interruption | None] = ContextVar(
    "amplifier_core.interruption", default=None
)
"""The block that runs now."""


def stand_alone() -> None:
    """Forget the blocks around, in a task that outlives them."""
    _INNERMOST.set(None)


innermost: Callable[[], Interruption | None] = _INNERMOST.get
"""Returns the block that runs now."""


def block_of(token: Any) -> Interruption | None:
    """Return the innermost block of this token that the running task is in; None without one."""
    block, task = _INNERMOST.get(), None
    while block is not None:
        if block._token is token and not block._is_over:  # pyright: ignore[reportPrivateUsage]
            task = task or find_asyncio_task()
            if block._task is task:  # pyright: ignore[reportPrivateUsage]
                return block
        block = block._surrounding  # pyright: ignore[reportPrivateUsage]
    return None


def is_ending() -> bool:
    """Whether a block that runs now was ended from outside."""
    return was_ended(_INNERMOST.get())


def was_ended(block: Interruption | None) -> bool:
    """Whether a block or one around it runs and was ended from outside; None is no block."""
    while block is not None:
        if block.was_ended and not block._is_over:  # pyright: ignore[reportPrivateUsage]
            return True
        block = block._surrounding  # pyright: ignore[reportPrivateUsage]
    return False


def _is_cancellation(error: BaseException | None) -> bool:
    import asyncio

    return isinstance(error, asyncio.CancelledError)
