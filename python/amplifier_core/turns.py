"""The turns of a session: one at a time, in the order in which they were asked for."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from threading import Lock
from typing import Any

from .event_loop import find_asyncio_loop

_INSIDE = (
    "`execute` was called inside a turn of the same session, which would wait for its own end; "
    "call it after the turn, or run the prompt in another session"
)
_ELSEWHERE = (
    "the session runs a turn in another event loop; run its turns in one event loop, "
    "or make a session for each"
)


_CHOOSING = Lock()
"""Held while it is decided which of several threads comes first, in any session."""


class Turns:
    """The turn of a session that runs, and those that wait for it."""

    __slots__ = ("running", "waiting")

    def __init__(self) -> None:
        """Begin without a turn."""
        self.running: Turn | None = None
        self.waiting: tuple[Turn, ...] = ()

    def begin(self) -> Turn:
        """Begin a turn; if its `waiting` is not None, that has to be awaited first, by `wait`.

        Raises:
            RuntimeError: It is inside a turn of the same session, or one runs in another event loop.
        """
        around = _TURN.get()
        turn = Turn()
        turn.turns = self
        turn.around = around
        turn.loop = find_asyncio_loop() or _trio_token()
        while around is not None:
            if around.turns is self and not around.is_over:
                raise RuntimeError(_INSIDE)
            around = around.around
        with _CHOOSING:
            running = self.running = self.running or turn
        if running is turn:
            _TURN.set(turn)
            return turn
        if running.loop is not turn.loop:
            if not _is_closed(running.loop):
                raise RuntimeError(_ELSEWHERE)
            # Turns of a closed event loop never end.
            self.running = turn
            self.waiting = ()
            _TURN.set(turn)
            return turn
        from anyio import Event

        turn.waiting = Event()
        self.waiting += (turn,)
        return turn

    def pass_on(self) -> None:
        """Let the first of the turns that wait run now."""
        following, *rest = self.waiting
        self.running, self.waiting = following, tuple(rest)
        following.waiting.set()

    def forget(self, turn: Turn) -> None:
        """Take out a turn that waits no more."""
        self.waiting = tuple(each for each in self.waiting if each is not turn)
        turn.end()


class Turn:
    """One turn: waiting, running, over."""

    # No `__init__`, which would cost more than the rest of a turn.
    turns: Turns
    around: Turn | None
    """The turn, of another session, whose tool, hook or loop asked for this one."""
    loop: Any
    """The event loop; None outside of one."""
    waiting: Any = None
    """The event that is set when the turn may run, if it has to wait."""
    is_over = False

    async def wait(self) -> None:
        """Wait until all turns before this one are over."""
        try:
            await self.waiting.wait()
        except BaseException:
            self.turns.forget(self)
            raise
        _TURN.set(self)

    def end(self) -> None:
        """End the turn, and let the next one run."""
        self.is_over = True
        if _TURN.get() is self:
            _TURN.set(self.around)
        # Another turn is there if this one's event loop was closed meanwhile.
        if self.turns.running is self:
            if self.turns.waiting:
                self.turns.pass_on()
            else:
                self.turns.running = None


_TURN: ContextVar[Turn | None] = ContextVar("amplifier_core.turn", default=None)
"""The innermost turn in which the code runs."""


def _trio_token() -> Any:
    """Return what stands for the running event loop of trio; None outside of one."""
    # Without trio in the process, nothing can run under it.
    trio = sys.modules.get("trio")
    if trio is None:
        return None
    try:
        return trio.lowlevel.current_trio_token()
    except RuntimeError:
        return None


def _is_closed(loop: Any) -> bool:
    is_closed = getattr(loop, "is_closed", None)
    return is_closed is not None and is_closed()
