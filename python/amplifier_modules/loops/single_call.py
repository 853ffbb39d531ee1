"""A turn without a model: one tool call that somebody else has asked for."""

from __future__ import annotations

from .answers.response import RequestedCall
from .tool_call import CallRun
from .tool_calls import ToolRound
from .turn import Turn
from .turn_report import Outcome
from .turn_state import TurnState


class SingleCall(Turn):
    """Runs one call as a turn does, with its budget, its events and its end; `run` it once."""

    def __init__(self, state: TurnState, call: RequestedCall) -> None:
        """Prepare to run a call.

        Args:
            state: The turn, whose history is nobody's.
            call: The call.
        """
        super().__init__(state, "")
        self._call = call
        self._call_run: CallRun | None = None

    def take_run(self) -> CallRun:
        """Return the call and its result, once the turn has ended.

        Raises:
            RuntimeError: The turn was ended before the call could begin.
        """
        if self._call_run is None:
            raise RuntimeError(f"`{self._call.name}` was not run: {self._state.report.reason}")
        return self._call_run

    async def _converse(self) -> Outcome:
        calls = ToolRound(self._state)
        try:
            async with calls:
                await calls.run_again([(self._call, None)])
        finally:
            self._call_run = next(iter(calls.runs), None)
        return Outcome.CANCELLED if self._state.cancellation.is_cancelled else Outcome.COMPLETED
