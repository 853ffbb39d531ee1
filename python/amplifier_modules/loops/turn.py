"""One turn: from the prompt through model and tool calls to the answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping
from functools import partial
from math import inf
from typing import Any

import anyio

from amplifier_core._kernel.interruption import Interruption
from amplifier_core.events import (
    EXECUTION_START,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    TURN_START,
)
from amplifier_core.llm_errors import AbortError
from amplifier_core.message_models import ChatRequest, ChatResponse

from ..running.side_call import SIDE_CALL
from ..spending.account import Limit
from ..spending.ledger import RUNNING, Ledger
from .answers.tool_list import example_writer
from .boundary.cancellation import TurnCancellation
from .boundary.hook_points import HookPoints
from .boundary.injection import Injection
from .boundary.time_warning import warned_in_time
from .call_scope import CallRules
from .equal_errors import EqualErrors
from .goal.actions import Actions
from .goal.state import goal_of
from .goal_mode import GoalMode
from .model_call import TurnModels
from .model_calls import ModelCalls
from .models.provider_choice import tool_tags
from .outcome import Outcome
from .pause import ToolPause
from .recovery.recovery import Recovery
from .settings import UNLIMITED
from .shared import Shared
from .side_calls import SideCalls
from .tool_calls import ToolRound
from .turn_ending import TurnEnding, is_silent
from .turn_history import TurnHistory
from .turn_report import TurnReport

logger = logging.getLogger(__name__)

_STOPPED = frozenset({Outcome.INCOMPLETE, Outcome.GIVEN_UP})


class Turn:
    """A turn of a loop; `run` it once.

    The history that it leaves in the context is valid at every exit: each tool call that was
    stored has its result, whether the turn succeeded, failed or was cancelled.
    """

    def __init__(
        self,
        shared: Shared,
        prompt: str,
        context: Any,
        tools: Mapping[str, Any],
        hooks: HookPoints,
        cancellation: TurnCancellation,
        rules: CallRules,
        response_format: Any = None,
    ) -> None:
        """Answer this prompt.

        Args:
            shared: What all turns of the loop share.
            prompt: The text of the user.
            context: The context that stores the conversation.
            tools: Mounted tools by name.
            hooks: Where the events go.
            cancellation: Whether the turn is cancelled.
            rules: What holds for each tool call.
            response_format: The form that answers must have, for providers that can hold a model
                to it.
        """
        self.shared = shared
        self.settings = shared.settings
        self.steering = shared.steering
        self.prompt = prompt
        self.tools = tools
        self.hooks = hooks
        self.cancellation = cancellation
        self.rules = rules
        self.ledger = ledger = rules.ledger
        """What the turn may use; None for no limit."""
        self.report = report = TurnReport(shared.orchestrator)
        self.history = history = TurnHistory(context, shared.emitted_history)
        self._equal_errors = EqualErrors(shared.most_errors)
        self._actions = Actions()
        self._goal: GoalMode | None = None
        self._look_for_goal()
        self._asking = ModelCalls(shared, tools, hooks, history, report, ledger, response_format)

    async def run(self, models: TurnModels | Exception) -> str:
        """Return the answer, or its beginning if the turn is cancelled.

        Args:
            models: The models to call, or the error why there is none.

        Raises:
            Exception: What the provider or the context raised.
        """
        # Whatever is asked for while the turn closes changes nothing.
        running = RUNNING.set(self.ledger)
        has_models = isinstance(models, TurnModels)
        aside = SIDE_CALL.set(partial(self._call_aside, models) if has_models else None)
        if self.ledger is not None:
            self.ledger.tell(self.hooks)
            self.ledger.begin()
        try:
            with self.cancellation.interruptible() as whole:
                whole.defer()
                await self._run(models)
        finally:
            SIDE_CALL.reset(aside)
            RUNNING.reset(running)
            if self.ledger is not None:
                self.ledger.end()
        return self.report.answer

    async def _run(self, models: TurnModels | Exception) -> None:
        outcome = Outcome.ERROR
        was_interrupted = False
        try:
            with self.cancellation.interruptible() as conversation:
                await self.hooks.notify(EXECUTION_START, lambda: {"prompt": self.prompt})
                outcome = await self._converse_in_time(models)
                if outcome in _STOPPED and self.history.ends_in_tool_results:
                    await self.history.close(f"The turn was ended: {self.report.reason}.")
            if conversation.was_caught:
                outcome, was_interrupted = Outcome.CANCELLED, True
        except anyio.get_cancelled_exc_class():
            outcome, was_interrupted = Outcome.CANCELLED, True
            raise
        finally:
            if outcome is Outcome.CANCELLED or not is_silent(self.hooks, self.history):
                await self._close(outcome, was_interrupted=was_interrupted)

    async def _close(self, outcome: Outcome, *, was_interrupted: bool) -> None:
        if self._goal is not None:
            self.report.goal_final = self._goal.final(outcome)
        end = TurnEnding(
            self.hooks, self.cancellation, self.history, self.steering, self.report, outcome
        )
        if outcome is Outcome.CANCELLED:
            was_immediate = was_interrupted or self.cancellation.is_immediate
            await end.close_cancelled(was_immediate=was_immediate)
        else:
            await end.close(self.report.reason or "the turn has failed")

    def _converse_in_time(self, models: TurnModels | Exception) -> Awaitable[Outcome]:
        """Converse for as long as the budget allows."""
        ledger = self.ledger
        if ledger is None or ledger.seconds_left() is None:
            return self._converse(models)
        return self._converse_for(ledger, models)

    async def _converse_for(self, ledger: Ledger, models: TurnModels | Exception) -> Outcome:
        outcome = Outcome.INCOMPLETE
        with Interruption(seconds=ledger.seconds_to_end()) as time:

            def set_end() -> None:
                left = ledger.seconds_to_end()
                time.end_at(inf if left is None else time.now() + left)

            with ledger.noticing_pauses(lambda: time.soon(set_end)):
                async with warned_in_time(ledger):
                    outcome = await self._converse(models)
        if time.was_caught:
            self.report.reason = ledger.out_of_time().reason
        return outcome

    async def _converse(self, models: TurnModels | Exception) -> Outcome:
        await self.hooks.notify(
            TURN_START,
            lambda: {"orchestrator": self.shared.orchestrator, "prompt": self.prompt},
        )
        if not self.history.continues_with(self.hooks.registry):
            await self.history.begin(self.hooks.registry)
        prompt = self.prompt
        verdict = await self.hooks.judge(PROMPT_SUBMIT, {"prompt": prompt})
        if verdict.denied:
            self.report.deny(PROMPT_SUBMIT, verdict.reason)
            return Outcome.INCOMPLETE
        changed = None if verdict.data is None else verdict.data.get("prompt")
        prompt = changed if isinstance(changed, str) else prompt
        if isinstance(models, Exception):
            raise models
        self._asking.describe_tools()
        recovery = self._recovery(models)
        await self.history.add({"role": "user", "content": prompt})
        outcome = await self._iterate(models, recovery)
        if outcome is Outcome.COMPLETED and (goal := self._look_for_goal()) is not None:
            outcome = await goal.pursue(models, partial(self._iterate, models, recovery))
        if outcome is not Outcome.CANCELLED:
            await self.hooks.notify(
                PROMPT_COMPLETE, lambda: {"prompt": prompt, "response": self.report.answer}
            )
        return outcome

    def _recovery(self, models: TurnModels) -> Recovery | None:
        """Return the recovery from errors of the model; None where `EqualErrors` is all of it.

        Raises:
            ConfigurationError: Each answer needs a call, and no tool ends the turn.
        """
        tags = tool_tags(models.own.provider, self.settings)
        self.shared.warn_of_plain_tags(tags, self.tools)
        if not tags and not self.settings.require_call:
            return None
        example = example_writer(self._asking.tool_specs, tags, self.settings.tool_format)
        recovery = Recovery(self.hooks.emit, self.tools, self.shared.most_errors, example)
        if self.settings.require_call:
            recovery.require_end()
        return recovery

    def _look_for_goal(self) -> GoalMode | None:
        """Return the goal mode of the turn; None as long as the session has no goal."""
        if self._goal is None and goal_of(self.hooks.coordinator) is not None:
            # Also one that a tool has set.
            self._goal = GoalMode(
                self.hooks,
                self.cancellation,
                self.settings,
                self.history,
                self.report,
                self.ledger,
                self._actions,
            )
        return self._goal

    async def _iterate(self, models: TurnModels, recovery: Recovery | None) -> Outcome:
        while not self.cancellation.is_cancelled:
            pausing = self.shared.pausing
            if pausing.is_on:
                await pausing.wait(
                    self.hooks, self.cancellation, "model_call", self.report.iterations
                )
                if self.cancellation.is_cancelled:
                    break
            if self.report.iterations == self.settings.max_iterations != UNLIMITED:
                self.report.reason = (
                    f"the limit of {self.report.iterations} model calls, `max_iterations`"
                )
                await self._asking.wrap_up(models)
                return Outcome.INCOMPLETE
            if self.ledger is not None and (limit := self.ledger.reached_limit()) is not None:
                return await self._stop_at(limit, models)
            self.report.iterations += 1
            if self.steering:
                await self.steering.inject(self.history, self.hooks, self.report.iterations)
            try:
                calls = await self._answer(models, recovery)
            except AbortError:
                if self.cancellation.is_cancelled:
                    return Outcome.CANCELLED  # the provider stopped waiting because of it
                raise
            if isinstance(calls, Outcome):
                return calls
            if isinstance(calls, Limit):
                self.report.iterations -= 1
                return await self._stop_at(calls, models)
            if calls is not None:
                outcome = await self._judge(calls, recovery)
                if outcome is not None:
                    return outcome
                continue
            if recovery is not None:
                if self.settings.require_call:
                    await recovery.note_no_call(self.report.iterations)
                    if recovery.given_up is not None:
                        self.report.give_up(recovery.given_up)
                        return Outcome.GIVEN_UP
                    continue
                if await self._tell_of_quoted_call(models, recovery):
                    continue
                recovery.note_success()
            if not self.steering:
                return Outcome.COMPLETED
        return Outcome.CANCELLED

    async def _tell_of_quoted_call(self, models: TurnModels, recovery: Recovery) -> bool:
        """Tell the model that it quoted its call; whether it can be asked again."""
        name = models.quoted_call
        is_last = self.report.iterations == self.settings.max_iterations
        if name is None or is_last or (self.ledger is not None and self.ledger.reached_limit()):
            return False
        return await recovery.note_quoted_call(name, self.report.iterations)

    async def _stop_at(self, limit: Limit, models: TurnModels) -> Outcome:
        """End the turn at a limit of its budget."""
        self.report.reason = limit.reason
        if limit.kind == "model_calls" and self.ledger is not None and self.ledger.has_called:
            await self._asking.wrap_up(models)
        return Outcome.INCOMPLETE

    async def _answer(
        self, models: TurnModels, recovery: Recovery | None
    ) -> ToolRound | Limit | Outcome | None:
        """Let the model answer and run its calls, which have ended; None without calls.

        Where a hook denied the call of the model, the outcome is returned, and the limit that
        forbids it.
        """
        reminder = models.reminder = None if recovery is None else recovery.take_reminder()
        injections = () if reminder is None else (Injection(reminder, role="user"),)
        asked = None
        if self.settings.execute_while_streaming:
            async with self._round(recovery) as calls:
                asked = await calls.ask(self._asking.ask(models, injections, early=calls))
                if isinstance(asked, tuple):
                    await calls.remember(*asked)
                    await calls.finish()
            if calls.count:
                return calls
            return None if isinstance(asked, tuple) else asked or Outcome.INCOMPLETE
        asked = await self._asking.ask(models, injections)
        if not isinstance(asked, tuple):
            return asked or Outcome.INCOMPLETE
        response, requested = asked
        if not requested:
            await self.history.add_response(response, [])
            return None
        async with self._round(recovery) as calls:
            await calls.remember(response, requested)
            await calls.finish()
        return calls

    async def _judge(self, calls: ToolRound, recovery: Recovery | None) -> Outcome | None:
        """Return how the turn ends after these calls; None if it goes on."""
        if self.ledger is not None:
            await self.ledger.warn()
            if self.ledger.seconds_left() == 0:
                self.report.reason = self.ledger.out_of_time().reason
                return Outcome.INCOMPLETE
        self._actions.note(calls.requested, calls.results)
        if calls.final_answer is not None:
            self.report.answer = calls.final_answer
            await self.history.close(self.report.answer)
            return Outcome.COMPLETED
        if calls.limit is not None:
            self.report.reason = calls.limit.reason
            return Outcome.INCOMPLETE
        given_up = self._equal_errors.given_up
        if recovery is not None:
            if not self.cancellation.is_cancelled:
                await recovery.note_calls(calls.errors(), calls.count, self.report.iterations)
            given_up = recovery.given_up or given_up
        if given_up is not None:
            self.report.give_up(given_up)
            return Outcome.GIVEN_UP
        return None

    async def _call_aside(
        self, models: TurnModels, request: ChatRequest, purpose: str
    ) -> ChatResponse:
        return await SideCalls(models, self.ledger, self.report)(request, purpose)

    def _round(self, recovery: Recovery | None) -> ToolRound:
        pausing = ToolPause(
            self.shared.pausing, self.hooks, self.cancellation, self.report.iterations
        )
        return ToolRound(
            self.tools,
            self.hooks,
            self.cancellation,
            self.rules,
            self.history,
            None if recovery is not None and recovery.owns_calls else self._equal_errors,
            pausing,
        )
