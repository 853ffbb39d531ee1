"""The pursuit of a goal: after each answer a judge, then the end or one more round."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from .judgement import (
    Actions,
    cut_answer,
    judge_prompt,
    read_judgement,
    summary_prompt,
    write_continuation,
)
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
        note_round: Callable[[dict[str, Any]], object],
        *,
        goal: str,
        sums_up: bool,
    ) -> None:
        """Pursue a goal, as long as the session has it, or another one.

        Args:
            coordinator: Has the session state; may be None.
            hooks: Get events of the progress.
            rules: Say when to go on.
            limit: Returns which limit of the turn forbids another round, if any.
            actions: What tools did since the last judgement.
            note_round: Is given each round that was judged, as JSON.
            goal: The goal.
            sums_up: Whether a model sums up several rounds at their end.
        """
        self._coordinator = coordinator
        self._hooks = hooks
        self._rules = rules
        self._limit = limit
        self._sums_up = sums_up
        self._actions = actions
        self._note_round = note_round
        self._goal = goal
        self._judged_rounds: list[tuple[str, str]] = []
        """The end of the answer and the judge's reason of each round."""
        self._judged: Mapping[str, Any] | None = None
        """A round that was judged in another process, which ended before it went on."""
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
            self._end = GoalEnd(GoalVerdict.CANCELLED, "the goal was withdrawn")
            return self._end
        self._goal = goal
        digests, shown = self._actions.take()
        kept, judged = cut_answer(answer), self._judged
        self._judged = None
        if judged is not None and judged["answer"] == kept:
            reached, reason = judged["reached"], judged["reason"]
        else:
            try:
                reached, reason = await self._judge_answer(judge_prompt(goal, answer, shown), ask)
            except HelperEnded as ended:
                return await self._end_pursuit(ended.end, None)
            found = {"answer": kept, "reached": reached, "reason": reason}
            self._note_round({**found, "actions": sorted(digests)})
        end = self._add_round(kept, Round(reached, reason, digests))
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

    def _add_round(self, answer: str, found: Round) -> GoalEnd | None:
        """Take a round into account; return how the pursuit ends after it, if it does."""
        self._judged_rounds.append((answer, found.reason))
        return self._rules.judge(found)

    def restore(self, rounds: Sequence[Mapping[str, Any]], *, is_open: bool) -> None:
        """Take rounds into account that were judged in another process.

        Args:
            rounds: What `note_round` was given there.
            is_open: Whether nothing has followed the last of them.
        """
        for each in rounds[:-1] if is_open else rounds:
            actions = frozenset(each["actions"])
            self._add_round(each["answer"], Round(each["reached"], each["reason"], actions))
        self._judged = rounds[-1] if is_open else None

    def describe_end(self, otherwise: GoalEnd) -> dict[str, Any]:
        """Return how the pursuit ended, for `orchestrator:complete`.

        Args:
            otherwise: How it ended if not by a judgement.
        """
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
        if (
            ask is not None
            and self._sums_up
            and len(self._judged_rounds) > 1
            and self._limit() is None
        ):
            self._summary = await self._sum_up(end, ask)
        # Behind the call that sums up: until then another process judges the answer anew.
        if end.verdict is GoalVerdict.REACHED and goal_of(self._coordinator) == self._goal:
            set_goal(self._coordinator, None)
        progress = self._describe_progress(end.verdict.value, reached, end.reason)
        await self._hooks.emit(GOAL_PROGRESS, progress)
        return end

    async def _sum_up(self, end: GoalEnd, ask: Ask) -> str | None:
        prompt = summary_prompt(self._goal, end.verdict.value, end.reason, self._judged_rounds)
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
