"""Turns that are paused between two of their steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from amplifier_providers.running.loop_thread import caller_into_loop

from .boundary.cancellation import TurnCancellation
from .boundary.hook_points import HookPoints

PAUSED = "orchestrator:paused"
"""Event: the turn waits, because it was paused."""
RESUMED = "orchestrator:resumed"
"""Event: the turn goes on."""


class Pause:
    """Holds the turns of a loop before their next model call or tool, until it is ended.

    `pause` and `resume` work from any thread, and in signal handlers.
    """

    def __init__(self) -> None:
        """Hold nothing."""
        self.is_on = False
        """Whether there is a pause."""
        self._waiting: set[Callable[[], object]] = set()

    def pause(self) -> None:
        """Hold the turn, or the next one, before its next step; nothing if it is paused."""
        self.is_on = True

    def resume(self) -> None:
        """Let it go on; nothing if it is not paused."""
        self.is_on = False
        for wake in tuple(self._waiting):
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

        self._waiting.add(wake)
        try:
            with cancellation.heard_by(wake):
                while self.is_on and not cancellation.is_cancelled:
                    await changed.wait()
                    changed = anyio.Event()
        finally:
            self._waiting.discard(wake)
        if not cancellation.is_cancelled:
            await hooks.emit(RESUMED, {**about, "seconds": anyio.current_time() - began})


class ToolPause:
    """The pauses of one turn before its tools."""

    def __init__(
        self, pause: Pause, hooks: HookPoints, cancellation: TurnCancellation, iteration: int
    ) -> None:
        """Wait for this pause; the rest is as in `Pause.wait`."""
        self._pause = pause
        self._hooks = hooks
        self._cancellation = cancellation
        self._iteration = iteration

    @property
    def is_paused(self) -> bool:
        """Whether no call may begin; those of a cancelled turn end without."""
        return self._pause.is_on and not self._cancellation.is_cancelled

    def wait(self) -> Awaitable[None]:
        """Wait while there is a pause."""
        return self._pause.wait(self._hooks, self._cancellation, "tools", self._iteration)
