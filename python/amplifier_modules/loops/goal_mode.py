"""Goal mode of a turn: its rounds, and the calls of the judge beside the conversation."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from amplifier_core.events import PROVIDER_REQUEST
from amplifier_core.llm_errors import AbortError
from amplifier_core.message_models import ChatRequest, Message

from ..contexts.history_events import GOAL
from ..running.failure import format_error
from ..spending.ledger import Ledger
from .answers.response import text_of
from .boundary.injection import with_injections
from .goal.kept_goal import ROUND
from .goal.pursuit import GoalPursuit, HelperEnded
from .goal.rules import GoalEnd, GoalRules, GoalVerdict
from .model_calls import BudgetUsedUpError, ask_aside
from .settings import UNLIMITED
from .stored_turn import StoredTurn
from .turn_report import Outcome
from .turn_state import TurnState

_OUTCOMES = {GoalVerdict.REACHED: Outcome.COMPLETED, GoalVerdict.CANCELLED: Outcome.COMPLETED}
"""How a turn ends that has an answer; after the other verdicts it is incomplete."""

_CANCELLED = GoalEnd(GoalVerdict.CANCELLED, "the turn was cancelled")


class GoalMode:
    """The rounds of a turn after its first answer, for a goal."""

    def __init__(self, state: TurnState, goal: str) -> None:
        """Pursue a goal in this turn, as long as it is that of the session."""
        self._state = state
        settings = state.settings
        most = settings.goal_max_rounds
        rules = GoalRules(
            max_rounds=None if most == UNLIMITED else most,
            stall_rounds=settings.goal_stall_rounds,
            busy_stall_rounds=settings.goal_busy_stall_rounds,
            overlap=settings.goal_stall_overlap,
            judge_failures=settings.goal_judge_failures,
        )
        hooks, limit = state.hooks, partial(_limit, state)
        self._pursuit = GoalPursuit(
            hooks.coordinator,
            hooks,
            rules,
            limit,
            state.actions,
            self._note_round,
            goal=goal,
            sums_up=settings.goal_summary,
        )

    def _note_round(self, judged: dict[str, Any]) -> None:
        if self._state.journal is not None:
            self._state.journal.note(ROUND, judged)

    def restore(self, stored: StoredTurn) -> None:
        """Go on behind the rounds that another process has stored."""
        self._pursuit.restore(stored.rounds, is_open=stored.has_open_round)

    async def pursue(self, iterate: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Let the model, which has answered, work on until the goal is reached or given up.

        Args:
            iterate: Lets the model work until it answers again.
        """
        state = self._state
        while True:
            found = await self._pursuit.next_round(state.report.answer, self._ask)
            if found is None:
                return Outcome.COMPLETED
            if state.cancellation.is_cancelled:
                return Outcome.CANCELLED
            if isinstance(found, GoalEnd):
                ended = _OUTCOMES.get(found.verdict, Outcome.INCOMPLETE)
                if ended is Outcome.INCOMPLETE:
                    state.report.reason = f"the goal was not reached: {found.reason}"
                return ended
            await state.history.add({"role": "user", "content": found}, GOAL)
            outcome = await iterate()
            if outcome is not Outcome.COMPLETED:
                return outcome

    def describe_end(self, outcome: Outcome) -> dict[str, Any] | None:
        """Return how the pursuit ended, for `orchestrator:complete`; None if it never began."""
        report = self._state.report
        if outcome is Outcome.CANCELLED:
            end = _CANCELLED
        elif outcome is Outcome.INCOMPLETE and "denied" not in report.details:
            end = GoalEnd(GoalVerdict.CAPPED, report.reason or "a limit was reached")
        else:
            # The error is on its way out of the turn, whose end is emitted before.
            error = sys.exception()
            why = report.reason or (format_error(error) if error else "the turn failed")
            end = GoalEnd(GoalVerdict.FAILED, why)
        return self._pursuit.describe_end(end)

    async def _ask(self, purpose: str, text: str) -> str:
        """Return what the model for calls beside the conversation answers.

        Raises:
            HelperEnded: A hook denied the call, or a limit forbids it.
            Exception: What the provider raised.
        """
        state = self._state
        if (reason := _limit_of(state.ledger)) is not None:
            raise HelperEnded(GoalEnd(GoalVerdict.CAPPED, reason))
        hooks = state.hooks.make_separate()
        identity = state.models.make_helper(purpose).describe_call()
        about = {**identity, "message_count": 1, "iteration": state.report.iterations}
        verdict = await hooks.judge(PROVIDER_REQUEST, about)
        if verdict.denied:
            reason = f"a hook denied the call of the judge: {verdict.reason}"
            raise HelperEnded(GoalEnd(GoalVerdict.FAILED, reason))
        given = with_injections([{"role": "user", "content": text}], hooks.take_injections())
        messages = [Message.model_validate(each) for each in given]
        try:
            response = await ask_aside(state, ChatRequest(messages=messages), purpose)
        except BudgetUsedUpError as limit:
            raise HelperEnded(GoalEnd(GoalVerdict.CAPPED, str(limit))) from None
        except AbortError:
            if state.cancellation.is_cancelled:
                raise HelperEnded(_CANCELLED) from None
            raise
        return text_of(response)


def _limit(state: TurnState) -> str | None:
    """Return which limit forbids another model call of the turn, if any."""
    iterations = state.report.iterations
    if iterations == state.settings.max_iterations:
        return f"the limit of {iterations} model calls, `max_iterations`"
    return _limit_of(state.ledger)


def _limit_of(ledger: Ledger | None) -> str | None:
    limit = None if ledger is None else ledger.reached_limit()
    return None if limit is None else limit.reason
