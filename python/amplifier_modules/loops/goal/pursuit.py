"""The pursuit of a goal: after each answer a judge, then the end or one more round."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from .judgement import Actions, judge_prompt, read_judgement, summary_prompt, write_continuation
from .rules import GoalEnd, GoalRules, GoalVerdict, Round, goal_of, set_goal

logger = logging.getLogger(__name__)

GOAL_PROGRESS = "orchestrator:goal_progress"
"""Event: an answer was judged by the goal; hooks may deny another round."""
JUDGE, SUMMARY = "goal_judge", "goal_summary"
"""The `purpose` of the calls of goal mode."""
CONTINUING = "continuing"
"""The `state` of a goal that is not reached yet."""
_SHOWN_CHARS = 120


class HelperEnded(Exception):
    """No call beside the conversation may be made any more, which ends the pursuit."""

    def __init__(self, end: GoalEnd) -> None:
        """Say how it ends."""
        super().__init__(end.reason)
        self.end = end


Ask = Callable[[str, str], Awaitable[str]]
"""Asks a model beside the conversation: for a purpose, a text; returns its answer.

It raises `HelperEnded` where that ends the pursuit.
"""


class Judging(Protocol):
    """What hooks decided."""

    @property
    def denied(self) -> bool:
        """Whether they denied the step."""
        ...

    @property
    def reason(self) -> str:
        """Why."""
        ...


class Points(Protocol):
    """The hooks of the turn."""

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that hooks can only observe."""
        ...

    async def judge(self, event: str, data: dict[str, Any]) -> Judging:
        """Let the hooks decide about a step."""
        ...


class GoalPursuit:
    """Pursues the goal of a session in one turn."""

    def __init__(
        self,
        coordinator: Any,
        hooks: Points,
        rules: GoalRules,
        limit: Callable[[], str | None],
        actions: Actions,
        *,
        sums_up: bool,
    ) -> None:
        """Pursue the goal of the session state, if there is one.

        Args:
            coordinator: Has the state; may be None.
            hooks: Get events of the progress.
            rules: Say when to go on.
            limit: Returns which limit of the turn forbids another round, if any.
            actions: What tools did since the last judgement.
            sums_up: Whether a model sums up several rounds at their end.
        """
        self._coordinator = coordinator
        self._hooks = hooks
        self._rules = rules
        self._limit = limit
        self._sums_up = sums_up
        self._actions = actions
        self._goal = goal_of(coordinator)
        self._judged_rounds: list[tuple[str, str]] = []
        """The answer and the judge's reason of each round."""
        self._end: GoalEnd | None = None
        self._summary: str | None = None

    async def next_round(self, answer: str, ask: Ask) -> str | GoalEnd | None:
        """Judge an answer by the goal.

        Args:
            answer: The answer of the model.
            ask: Asks the judge.

        Returns:
            What the model reads for one more round; how the pursuit ends; None without a goal.
        """
        goal = goal_of(self._coordinator)
        if goal is None:
            if self._goal is not None:
                self._end = GoalEnd(GoalVerdict.CANCELLED, "the goal was withdrawn")
            return self._end
        self._goal = goal
        digests, shown = self._actions.take()
        try:
            reached, reason = await self._judge_answer(judge_prompt(goal, answer, shown), ask)
        except HelperEnded as ended:
            return await self._end_pursuit(ended.end, None)
        end = self._rules.judge(Round(reached, reason, digests))
        self._judged_rounds.append((answer, reason))
        if end is None and (limit := self._limit()) is not None:
            end = GoalEnd(GoalVerdict.CAPPED, limit)
        if end is not None:
            has_failed = end.verdict is GoalVerdict.FAILED
            return await self._end_pursuit(end, reached, None if has_failed else ask)
        progress = self._describe_progress(CONTINUING, reached, reason)
        verdict = await self._hooks.judge(GOAL_PROGRESS, progress)
        if verdict.denied:
            reason = f"a hook denied another round: {verdict.reason}"
            return await self._end_pursuit(GoalEnd(GoalVerdict.FAILED, reason), reached)
        return write_continuation(goal, reason if reached is not None else "")

    def describe_end(self, otherwise: GoalEnd) -> dict[str, Any] | None:
        """Return how the pursuit ended, for `orchestrator:complete`; None without a goal.

        Args:
            otherwise: How it ended if not by a judgement.
        """
        if self._goal is None:
            return None
        end = self._end or otherwise
        return {
            "goal": self._goal,
            "verdict": end.verdict.value,
            "reason": end.reason,
            "rounds": self._rules.rounds,
            "summary": self._summary,
        }

    async def _judge_answer(self, prompt: str, ask: Ask) -> tuple[bool | None, str]:
        """Return whether the goal is reached and why; None where the judge gave no verdict."""
        try:
            text = await ask(JUDGE, prompt)
        except HelperEnded:
            raise
        except Exception as error:
            # The answer of the turn is there, whatever the judge does.
            logger.warning("the judge of the goal failed: %s", error)
            logger.debug("traceback of the judge", exc_info=True)
            return None, f"the judge failed: {type(error).__name__}: {error}".removesuffix(": ")
        if (found := read_judgement(text)) is not None:
            return found.reached, found.reason
        shown = " ".join(text.split())
        shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
        return None, f"the answer of the judge has no verdict: `{shown}`"

    async def _end_pursuit(
        self, end: GoalEnd, reached: bool | None, ask: Ask | None = None
    ) -> GoalEnd:
        """Sum up, and emit how the pursuit ended; `ask` where a summary may be asked for."""
        self._end = end
        if end.verdict is GoalVerdict.REACHED:
            set_goal(self._coordinator, None)
        if (
            ask is not None
            and self._sums_up
            and len(self._judged_rounds) > 1
            and self._limit() is None
        ):
            self._summary = await self._sum_up(end, ask)
        progress = self._describe_progress(end.verdict.value, reached, end.reason)
        await self._hooks.emit(GOAL_PROGRESS, progress)
        return end

    async def _sum_up(self, end: GoalEnd, ask: Ask) -> str | None:
        prompt = summary_prompt(
            self._goal or "", end.verdict.value, end.reason, self._judged_rounds
        )
        try:
            return (await ask(SUMMARY, prompt)).strip() or None
        except Exception as error:  # noqa: BLE001 -- it is an addition, and `provider:error` reports it
            logger.warning("the rounds of the goal could not be summed up: %s", error)
            return None

    def _describe_progress(self, state: str, reached: bool | None, reason: str) -> dict[str, Any]:
        return {
            "goal": self._goal,
            "round": self._rules.rounds,
            "max_rounds": self._rules.max_rounds,
            "state": state,
            "reached": reached,
            "reason": reason,
        }
