"""One turn: from the prompt through model and tool calls to the answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, TypeAlias

import anyio

from amplifier_core.events import (
    EXECUTION_START,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    TURN_START,
)
from amplifier_core.interruption import Interruption
from amplifier_core.llm_errors import AbortError

from ..running.side_call import SIDE_CALLS, SideCalls
from ..spending.account import Limit
from ..spending.ledger import RUNNING, Ledger
from .answers.tagged_request import example_writer
from .boundary.injection import Injection
from .goal.rules import goal_of
from .goal_mode import GoalMode
from .model_call import TurnModels
from .model_calls import Answered, Denied, LimitReached, ModelAsker, ModelStep, ask_aside
from .pace import warn_in_time
from .prompt_blocks import replace_text
from .recovery import Recovery
from .settings import UNLIMITED
from .stored_turn import StoredTurn
from .tool_calls import ToolRound
from .turn_ending import TurnEnding, is_silent, tell_listeners
from .turn_report import Outcome
from .turn_state import TurnState

logger = logging.getLogger(__name__)

_STOPPED = frozenset({Outcome.INCOMPLETE, Outcome.GIVEN_UP})
_UNFINISHED = frozenset({Outcome.CANCELLED, Outcome.AWAITING_APPROVAL})


Step: TypeAlias = ModelStep | ToolRound
"""What a step of a turn ends in: a call of the model, and the round of tools after it."""


class Turn:
    """A turn of a loop; `run` it once.

    The history that it leaves in the context is valid at every exit: each tool call that was
    stored has its result, whether the turn succeeded, failed or was cancelled.
    """

    def __init__(
        self,
        state: TurnState,
        prompt: str,
        stored: StoredTurn | None = None,
        blocks: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Answer this prompt of the user.

        Args:
            state: The turn.
            prompt: What the user said.
            stored: What another process has done of the turn, which it left open: the history has
                the prompt. None for a turn that begins.
            blocks: What the user said, with images and documents; None for text.
        """
        self._state = state
        self._stored = stored
        self._prompt = prompt
        self._blocks = blocks
        self._asker = ModelAsker(state)
        self._goal: GoalMode | None = None
        self._look_for_goal()

    async def run(self) -> str:
        """Return the answer, or its beginning if the turn is cancelled.

        Raises:
            ConfigurationError: There is no model to call.
            Exception: What the provider or the context raised.
        """
        state, ledger = self._state, self._state.ledger
        has_models = not isinstance(state.found_models, Exception)
        # Whatever is asked for while the turn closes changes nothing.
        stop_keeping = self._keep()
        running = RUNNING.set(ledger)
        side_calls = SideCalls(partial(ask_aside, state) if has_models else None)
        aside = SIDE_CALLS.set(side_calls)
        if ledger is not None:
            ledger.report_to(state.hooks)
            ledger.begin()
        try:
            with state.cancellation.make_interruption() as whole:
                whole.defer()
                await self._run()
        finally:
            SIDE_CALLS.reset(aside)
            side_calls.ask = None
            RUNNING.reset(running)
            if stop_keeping is not None:
                stop_keeping()
            if ledger is not None:
                ledger.end()
        return state.report.answer

    def _keep(self) -> Callable[[], None] | None:
        """Keep the turn in the journal of the session, if there is one; return what ends that."""
        state, stored = self._state, self._stored
        if stored is not None and stored.spent is not None and state.ledger is not None:
            state.ledger.restore(stored.spent)
        if state.journal is None:
            return None
        from .kept_turn import keep_turn  # late: most sessions are not stored

        return keep_turn(state)

    async def _run(self) -> None:
        state = self._state
        outcome = Outcome.ERROR
        was_interrupted = False
        try:
            with state.cancellation.make_interruption() as conversation:
                if state.hooks.has_listeners(EXECUTION_START):
                    await state.hooks.emit(EXECUTION_START, {"prompt": self._prompt})
                outcome = await self._converse_in_time()
                if outcome in _STOPPED and state.history.ends_in_tool_results:
                    await state.history.close(f"The turn was ended: {state.report.reason}.")
            if conversation.was_caught:
                outcome, was_interrupted = Outcome.CANCELLED, True
        except anyio.get_cancelled_exc_class():
            outcome, was_interrupted = Outcome.CANCELLED, True
            raise
        finally:
            if self._goal is not None and outcome is not Outcome.AWAITING_APPROVAL:
                state.report.goal_final = self._goal.describe_end(outcome)
            if outcome is Outcome.CANCELLED or not is_silent(state):
                await self._close(outcome, was_interrupted=was_interrupted)
            else:
                tell_listeners(state, outcome)

    async def _close(self, outcome: Outcome, *, was_interrupted: bool) -> None:
        state = self._state
        end = TurnEnding(state, outcome)
        if outcome is Outcome.CANCELLED:
            was_immediate = was_interrupted or state.cancellation.is_immediate
            await end.close_cancelled(was_immediate=was_immediate)
        else:
            await end.close(state.report.reason or "the turn has failed")

    def _converse_in_time(self) -> Awaitable[Outcome]:
        """Converse for as long as the budget allows."""
        ledger = self._state.ledger
        if ledger is None or ledger.seconds_left() is None:
            return self._converse()
        return self._converse_for(ledger)

    async def _converse_for(self, ledger: Ledger) -> Outcome:
        outcome = Outcome.INCOMPLETE
        with Interruption(seconds=ledger.seconds_to_end()) as time:

            def set_end() -> None:
                left = ledger.seconds_to_end()
                time.end_at(inf if left is None else time.now() + left)

            with ledger.noticing_pauses(lambda: time.soon(set_end)):
                async with warn_in_time(ledger):
                    outcome = await self._converse()
        if time.was_caught:
            self._state.report.reason = ledger.out_of_time().reason
        return outcome

    async def _converse(self) -> Outcome:
        state = self._state
        hooks, history, prompt = state.hooks, state.history, self._prompt
        if hooks.has_listeners(TURN_START):
            about = {"orchestrator": state.loop.orchestrator, "prompt": self._prompt}
            await hooks.emit(TURN_START, about)
        if not history.continues_with(hooks.registry):
            await history.begin(hooks.registry)
        if self._stored is None and hooks.has_listeners(PROMPT_SUBMIT):
            verdict = await hooks.judge(PROMPT_SUBMIT, {"prompt": prompt})
            if verdict.denied:
                state.report.deny(PROMPT_SUBMIT, verdict.reason)
                return Outcome.INCOMPLETE
            changed = None if verdict.data is None else verdict.data.get("prompt")
            prompt = changed if isinstance(changed, str) else prompt
        models = state.models
        self._asker.describe_tools()
        state.recovery = self._make_recovery(models)
        if self._stored is not None:
            outcome = await self._go_on(self._stored)
        else:
            await history.add({"role": "user", "content": self._make_content(prompt)})
            outcome = await self._iterate()
        if outcome is Outcome.COMPLETED and (goal := self._look_for_goal()) is not None:
            outcome = await goal.pursue(self._iterate)
        if outcome not in _UNFINISHED and hooks.has_listeners(PROMPT_COMPLETE):
            done = {"prompt": prompt, "response": state.report.answer}
            await hooks.emit(PROMPT_COMPLETE, done)
        return outcome

    def _make_content(self, prompt: str) -> str | list[dict[str, Any]]:
        """Return what the message of the user holds, with the prompt as hooks have left it."""
        if self._blocks is None:
            return prompt
        if prompt != self._prompt:
            return replace_text(self._blocks, prompt)
        return [dict(block) for block in self._blocks]

    async def _go_on(self, stored: StoredTurn) -> Outcome:
        """Take the steps that another process has not taken."""
        from .open_turn import find_last_answer, finish_open_calls, restore_turn  # late: few go on

        state = self._state
        restore_turn(state, stored)
        if (goal := self._look_for_goal(stored.goal)) is not None:
            goal.restore(stored)
        if waiting := await finish_open_calls(state, stored):
            state.report.await_approval(waiting)
            return Outcome.AWAITING_APPROVAL
        if (given_up := state.equal_errors.given_up) is not None:
            state.report.give_up(given_up)
            return Outcome.GIVEN_UP
        answer = await find_last_answer(state)
        if answer is None:
            return await self._iterate()
        state.report.answer = answer
        return Outcome.COMPLETED

    def _make_recovery(self, models: TurnModels) -> Recovery | None:
        """Return the recovery from errors of the model; None where `EqualErrors` is all of it.

        Raises:
            ConfigurationError: Each answer needs a call, and no tool ends the turn.
        """
        state, settings = self._state, self._state.settings
        tags = models.own.tags
        if not tags and not settings.require_call:
            return None
        state.loop.warn_of_plain_tags(tags, state.tools)
        example = example_writer(self._asker.tool_specs, tags, settings.tool_format)
        recovery = Recovery(state.hooks.emit, state.tools, state.loop.most_errors, example)
        if settings.require_call:
            recovery.require_end()
        return recovery

    def _look_for_goal(self, before: str | None = None) -> GoalMode | None:
        """Return the goal mode of the turn; None as long as the session has no goal.

        Args:
            before: The goal that the turn pursued before; None for none.
        """
        goal = goal_of(self._state.hooks.coordinator) or before
        if self._goal is None and goal is not None:
            # Also one that a tool has set.
            self._goal = GoalMode(self._state, goal)
        return self._goal

    async def _iterate(self) -> Outcome:
        """Take steps until the turn ends, and return how."""
        state = self._state
        hooks, report, ledger = state.hooks, state.report, state.ledger
        pausing, steering = state.loop.pausing, state.loop.steering
        while not state.cancellation.is_cancelled:
            if pausing.is_on:
                await pausing.wait(hooks, state.cancellation, "model_call", report.iterations)
                if state.cancellation.is_cancelled:
                    break
            if report.iterations == state.settings.max_iterations != UNLIMITED:
                report.reason = f"the limit of {report.iterations} model calls, `max_iterations`"
                await self._asker.wrap_up()
                return Outcome.INCOMPLETE
            if ledger is not None and (limit := ledger.reached_limit()) is not None:
                return await self._stop_at(limit)
            report.iterations += 1
            if steering:
                await steering.inject(state.history, hooks, report.iterations)
            try:
                step = await self._take_step()
            except AbortError:
                if state.cancellation.is_cancelled:
                    return Outcome.CANCELLED  # the provider stopped waiting because of it
                raise
            match step:
                case ToolRound():
                    outcome = await self._judge(step)
                case Answered():
                    outcome = await self._judge_answer()
                case LimitReached(limit):
                    report.iterations -= 1
                    outcome = await self._stop_at(limit)
                case Denied():
                    outcome = Outcome.INCOMPLETE
            if outcome is not None:
                return outcome
        return Outcome.CANCELLED

    async def _judge_answer(self) -> Outcome | None:
        """Return how the turn ends after an answer without calls; None if it goes on."""
        state, recovery = self._state, self._state.recovery
        if recovery is not None:
            if state.settings.require_call:
                await recovery.note_no_call(state.report.iterations)
                if recovery.given_up is None:
                    return None
                state.report.give_up(recovery.given_up)
                return Outcome.GIVEN_UP
            if await self._report_quoted_call(recovery):
                return None
            recovery.note_success()
        return None if state.loop.steering else Outcome.COMPLETED

    async def _report_quoted_call(self, recovery: Recovery) -> bool:
        """Let the model know that it quoted its call; whether it can be asked again."""
        state = self._state
        name, iterations = state.models.notes.quoted_call, state.report.iterations
        is_last = iterations == state.settings.max_iterations
        if name is None or is_last or (state.ledger is not None and state.ledger.reached_limit()):
            return False
        return await recovery.note_quoted_call(name, iterations)

    async def _stop_at(self, limit: Limit) -> Outcome:
        """End the turn at a limit of its budget."""
        ledger = self._state.ledger
        self._state.report.reason = limit.reason
        if limit.kind == "model_calls" and ledger is not None and ledger.has_called:
            await self._asker.wrap_up()
        return Outcome.INCOMPLETE

    async def _take_step(self) -> Step:
        """Let the model answer, and run its calls to their end."""
        state = self._state
        recovery = state.recovery
        reminder = None if recovery is None else recovery.take_reminder()
        state.models.notes.reminder = reminder
        injections = () if reminder is None else (Injection(reminder, role="user"),)
        if state.settings.execute_while_streaming:
            step: Step = Denied()  # where the round ends before the model has answered
            async with ToolRound(state) as calls:
                step = await calls.ask(self._asker.ask(injections, early=calls))
                if recovery is not None:
                    recovery.note_answer()
                if isinstance(step, Answered):
                    await calls.remember(step.response, step.calls)
                    await calls.finish()
            return calls if calls.count else step
        step = await self._asker.ask(injections)
        if recovery is not None:
            recovery.note_answer()
        if not isinstance(step, Answered):
            return step
        if not step.calls:
            await state.history.add_response(step.response, [])
            return step
        async with ToolRound(state) as calls:
            await calls.remember(step.response, step.calls)
            await calls.finish()
        return calls

    async def _judge(self, calls: ToolRound) -> Outcome | None:
        """Return how the turn ends after these calls; None if it goes on."""
        state = self._state
        report, ledger, recovery = state.report, state.ledger, state.recovery
        if waiting := calls.put_off:
            report.await_approval(waiting)
            return Outcome.AWAITING_APPROVAL
        if ledger is not None:
            await ledger.warn()
            if ledger.seconds_left() == 0:
                report.reason = ledger.out_of_time().reason
                return Outcome.INCOMPLETE
        state.actions.note(calls.requested, calls.results)
        if (answer := calls.final_answer) is not None:
            report.answer = answer
            await state.history.close(answer)
            return Outcome.COMPLETED
        if (limit := calls.limit) is not None:
            report.reason = limit.reason
            return Outcome.INCOMPLETE
        given_up = state.equal_errors.given_up
        if recovery is not None:
            if not state.cancellation.is_cancelled:
                await recovery.note_calls(calls.list_errors(), calls.count, report.iterations)
            given_up = recovery.given_up or given_up
        if given_up is not None:
            report.give_up(given_up)
            return Outcome.GIVEN_UP
        return None
