"""The end of a turn: the events that close it, whatever happens meanwhile."""

from __future__ import annotations

import logging

import anyio

from amplifier_core.events import CANCEL_COMPLETED, CANCEL_REQUESTED

from .boundary.cancellation import LastSteps, finish_steps
from .steering import CANCELLED as STEERING_CANCELLED
from .turn_report import CANCELLED, ENDINGS, Outcome
from .turn_state import TurnState

CANCELLED_CALL = "the turn was cancelled"
"""Why a call has ended that was neither run to its end nor refused."""

logger = logging.getLogger(__name__)


def is_silent(state: TurnState) -> bool:
    """Whether a turn that was not cancelled can end without an await.

    No hook handles its last events, and nothing is left to emit. Without hooks most turns end like
    this, which saves the scopes that `TurnEnding.close` needs against a cancellation.
    """
    hooks = state.hooks
    has_emitted_all = state.history.has_emitted_all() and not hooks.has_open_calls()
    return has_emitted_all and not any(map(hooks.has_handlers, ENDINGS))


def tell_listeners(state: TurnState, outcome: Outcome) -> None:
    """Tell how a turn ended that is silent, if somebody listens without handling it."""
    if any(map(state.hooks.has_listeners, ENDINGS)):
        for event, data in state.report.make_endings(outcome):
            state.hooks.tell(event, data)


class TurnEnding:
    """Closes a turn, once."""

    def __init__(self, state: TurnState, outcome: Outcome) -> None:
        """Prepare to close the turn with this outcome."""
        self._hooks = state.hooks
        self._cancellation = state.cancellation
        self._history = state.history
        self._steering = state.loop.steering
        self._report = state.report
        self._outcome = outcome

    async def close(self, reason: str) -> None:
        """Emit the closing events, even if the turn is cancelled meanwhile.

        Args:
            reason: Why calls have ended that are still open, such as at the end of the time.
        """
        rest = self._last_steps(reason)
        try:
            with self._cancellation.make_interruption() as closing:
                for step in rest:
                    await step
        except anyio.get_cancelled_exc_class():
            await finish_steps(rest)
            raise
        if closing.was_caught:
            await finish_steps(rest)

    async def close_cancelled(self, *, was_immediate: bool) -> None:
        """Close the history, run the callbacks of the cancellation, and emit the closing events."""
        await finish_steps(self._steps_of_cancelled(was_immediate=was_immediate))

    def _steps_of_cancelled(self, *, was_immediate: bool) -> LastSteps:
        yield from self._hooks.ends_of_open_calls(CANCELLED_CALL)
        yield self._hooks.emit(CANCEL_REQUESTED, {"immediate": was_immediate})
        yield self._cancellation.run_callbacks()
        yield self._steering.discard(self._hooks, STEERING_CANCELLED)
        if self._history.ends_in_tool_results:
            yield self._close_history()
        yield self._history.emit_changes()
        yield self._hooks.emit(CANCEL_COMPLETED, {"was_immediate": was_immediate})
        yield from self._closing_events()

    def _last_steps(self, reason: str) -> LastSteps:
        yield from self._hooks.ends_of_open_calls(reason)
        yield self._history.emit_changes()
        yield from self._closing_events()

    def _closing_events(self) -> LastSteps:
        for event, data in self._report.make_endings(self._outcome):
            yield self._hooks.emit(event, data)

    async def _close_history(self) -> None:
        try:
            await self._history.close(CANCELLED)
        except Exception:
            logger.exception("the closing message of a cancelled turn could not be stored")
