"""The time of a turn: pauses, delays between calls and words, and the warning before its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf

import anyio

from amplifier_core.interruption import Interruption
from amplifier_core.llm_errors import AbortError
from amplifier_providers.running.run_sync import caller_into_loop

from ..spending.ledger import Ledger
from .boundary.cancellation import TurnCancellation
from .boundary.hook_points import HookPoints
from .boundary.together import find_together
from .settings import LoopSettings

RATE_LIMIT_DELAY = "orchestrator:rate_limit_delay"
"""Event: a call waits because the last one was too recent."""


class LastCall:
    """When the last model call of a loop started, in whichever turn."""

    time: float | None = None
    """By the clock of the event loop, in seconds; None before the first call."""


class Pace:
    """The delays of one turn; a request to cancel it ends each at once."""

    def __init__(
        self, settings: LoopSettings, last_call: LastCall, cancellation: TurnCancellation
    ) -> None:
        """Keep the delays of these settings."""
        self._seconds = settings.min_delay_between_calls_ms / 1000
        self._word_seconds = settings.stream_delay
        self._last_call = last_call
        self._cancellation = cancellation

    @property
    def after_word(self) -> Callable[[], Awaitable[None]] | None:
        """Waits for the next word; None where there is no delay."""
        return self._wait_for_word if self._word_seconds > 0 else None

    async def before_call(self, hooks: HookPoints, iteration: int) -> None:
        """Wait until the next model call may start.

        Raises:
            AbortError: The turn is to be cancelled.
        """
        if not self._seconds:
            return
        if self._last_call.time is not None:
            delay = self._last_call.time + self._seconds - anyio.current_time()
            if delay > 0:
                data = {"delay_ms": delay * 1000, "iteration": iteration}
                await hooks.emit(RATE_LIMIT_DELAY, data)
                await self._cancellation.sleep(delay)
                if self._cancellation.is_cancelled:
                    raise AbortError("the turn was cancelled before its model call")
        self._last_call.time = anyio.current_time()

    async def _wait_for_word(self) -> None:
        await self._cancellation.sleep(self._word_seconds)


PAUSED = "orchestrator:paused"
"""Event: the turn waits, because it was paused."""
RESUMED = "orchestrator:resumed"
"""Event: the turn goes on."""


class Pause:
    """Holds the turns of a loop before their next model call or tool, until it is ended.

    `pause` and `resume` work from any thread, and in signal handlers.
    """

    __slots__ = ("_waiting", "is_on")

    def __init__(self) -> None:
        """Hold nothing."""
        self.is_on = False
        """Whether there is a pause."""
        self._waiting: tuple[Callable[[], object], ...] = ()

    def pause(self) -> None:
        """Hold the turn, or the next one, before its next step; nothing if it is paused."""
        self.is_on = True

    def resume(self) -> None:
        """Let it go on; nothing if it is not paused."""
        self.is_on = False
        for wake in self._waiting:
            wake()

    async def wait(
        self, hooks: HookPoints, cancellation: TurnCancellation, before: str, iteration: int
    ) -> None:
        """Wait while there is a pause; a cancellation of the turn ends that.

        Args:
            hooks: Where the events go.
            cancellation: That of the turn.
            before: The step that waits: `model_call` or `tools`.
            iteration: The number of model calls of the turn so far.
        """
        if not self.is_on or cancellation.is_cancelled:
            return
        about = {"before": before, "iteration": iteration}
        await hooks.emit(PAUSED, about)
        began = anyio.current_time()
        call_soon = caller_into_loop()
        changed = anyio.Event()

        def wake() -> None:
            call_soon(lambda: changed.set())

        self._waiting += (wake,)
        try:
            with cancellation.notifying(wake):
                while self.is_on and not cancellation.is_cancelled:
                    await changed.wait()
                    changed = anyio.Event()
        finally:
            self._waiting = tuple(each for each in self._waiting if each is not wake)
        if not cancellation.is_cancelled:
            await hooks.emit(RESUMED, {**about, "seconds": anyio.current_time() - began})


_SHORTEST_SECONDS = 0.001
"""Between two looks at a clock that may be a little behind that of the event loop."""


@asynccontextmanager
async def warn_in_time(ledger: Ledger) -> AsyncGenerator[None]:
    """Warn when most of the seconds of a turn are over, while the turn goes on in the block.

    At the end of the block, the handler of a warning that is being emitted is cancelled.
    """
    if ledger.seconds_to_warning() is None:
        yield
        return
    timer = _Timer(ledger)
    async with find_together() as running:
        cancel = running.start(timer.run, _do_nothing)
        try:
            yield
        finally:
            if not timer.end():
                cancel()


class _Timer:
    """Waits until most of the seconds are over, and warns."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._block: Interruption | None = None
        self._changed = anyio.Event()

    async def run(self) -> None:
        with Interruption() as block, self._ledger.noticing_pauses(lambda: block.soon(self._look)):
            self._block = block
            while (seconds := self._ledger.seconds_to_warning()) is not None:
                if seconds <= 0:
                    await self._ledger.warn()
                    continue
                longest = inf if self._ledger.is_paused else max(seconds, _SHORTEST_SECONDS)
                with anyio.move_on_after(longest):
                    await self._changed.wait()
                    self._changed = anyio.Event()

    def _look(self) -> None:
        self._changed.set()

    def end(self) -> bool:
        """End what it awaits; false if it has not begun."""
        if self._block is not None:
            self._block.end()
        return self._block is not None


def _do_nothing() -> None:
    """Do nothing."""
