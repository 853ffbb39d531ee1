"""The end of a turn: the events that close it, whatever happens meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import anyio

from amplifier_core.events import CANCEL_COMPLETED, CANCEL_REQUESTED

from .boundary.cancellation import TurnCancellation, grace
from .boundary.hook_points import HookPoints
from .outcome import CANCELLED
from .steering import CANCELLED as STEERING_CANCELLED
from .steering import SteeringQueue
from .turn_history import TurnHistory
from .turn_report import Ending

CANCELLED_CALL = "the turn was cancelled"
"""Why a call has ended that was neither run to its end nor refused."""

logger = logging.getLogger(__name__)


class TurnEnding:
    """Ends a turn, once."""

    def __init__(
        self,
        hooks: HookPoints,
        cancellation: TurnCancellation,
        history: TurnHistory,
        steering: SteeringQueue | None,
    ) -> None:
        """End the turn with this history, and discard what was to steer it if it is cancelled."""
        self._hooks = hooks
        self._cancellation = cancellation
        self._history = history
        self._steering = steering

    async def close(self, endings: Iterator[Ending]) -> None:
        """Emit the closing events, even if the turn is cancelled meanwhile."""
        try:
            with self._cancellation.interruptible() as closing:
                await self._finish(endings)
        except anyio.get_cancelled_exc_class():
            with grace():
                await self._finish(endings)
            raise
        if closing.was_caught:
            with grace():
                await self._finish(endings)

    async def close_cancelled(self, endings: Iterator[Ending], *, was_immediate: bool) -> None:
        """Close the history, run the callbacks of the cancellation, and emit the closing events."""
        with grace():
            await self._hooks.end_open_calls(CANCELLED_CALL)
            await self._hooks.emit(CANCEL_REQUESTED, {"immediate": was_immediate})
            await self._cancellation.run_callbacks()
            if self._steering is not None:
                await self._steering.discard(self._hooks, STEERING_CANCELLED)
            if self._history.ends_in_tool_results:
                try:
                    await self._history.close(CANCELLED)
                except Exception:
                    logger.exception("the closing message of a cancelled turn could not be stored")
            await self._history.tell()
            await self._hooks.emit(CANCEL_COMPLETED, {"was_immediate": was_immediate})
            await self._emit(endings)

    async def _finish(self, endings: Iterator[Ending]) -> None:
        await self._history.tell()
        await self._emit(endings)

    async def _emit(self, endings: Iterator[Ending]) -> None:
        for event, data in endings:
            await self._hooks.emit(event, data)
