"""Faults that the simulation must find: each is a change of the product, for as long as it is planted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from amplifier_core.events import TOOL_ERROR
from amplifier_core.llm_errors import StreamError
from amplifier_modules.contexts import compaction, simple
from amplifier_modules.loops.answers.blocks import OpenBlocks
from amplifier_modules.loops.answers.display import Display
from amplifier_modules.loops.boundary.call_approval import CallQuestion
from amplifier_modules.loops.boundary.hook_points import HookPoints
from amplifier_modules.loops.goal import pursuit
from amplifier_modules.loops.goal.judgement import Judgement
from amplifier_modules.loops.goal.pursuit import GoalPursuit
from amplifier_modules.loops.model_call import ModelCall
from amplifier_modules.loops.steering import SteeringQueue
from amplifier_modules.loops.tool_call import CallRun
from amplifier_modules.loops.tool_calls import ToolRound
from amplifier_modules.loops.turn import Turn
from amplifier_modules.loops.turn_history import TurnHistory
from amplifier_modules.spawn.tasks import Tasks
from amplifier_modules.spending.ledger import Ledger
from amplifier_modules.spending.reservation import Reservation

Plant = Callable[[pytest.MonkeyPatch], None]


def a_result_is_added_twice(patch: pytest.MonkeyPatch) -> None:
    add = TurnHistory.add_results

    async def twice(self: Any, messages: Any) -> None:
        await add(self, [each for message in messages for each in (message, message)])

    patch.setattr(TurnHistory, "add_results", twice)


def calls_that_never_began_have_no_result(patch: pytest.MonkeyPatch) -> None:
    messages = ToolRound.make_messages

    def of_begun(self: Any) -> list[dict[str, Any]]:
        begun = {call.requested.id for call in self._calls if call.has_begun or call.failure}
        return [each for each in messages(self) if each["tool_call_id"] in begun]

    patch.setattr(ToolRound, "make_messages", of_begun)


def the_failure_of_a_call_has_no_event(patch: pytest.MonkeyPatch) -> None:
    emit = HookPoints.emit

    async def but_failures(self: Any, event: str, data: dict[str, Any]) -> None:
        if event == TOOL_ERROR:
            self._open_calls.pop(data.get("tool_call_id"), None)
        else:
            await emit(self, event, data)

    patch.setattr(HookPoints, "emit", but_failures)


def what_a_call_used_is_not_settled(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reservation, "settle_call", lambda self, usage, *, answer_tokens=None: None)


def a_reservation_is_never_taken_back(patch: pytest.MonkeyPatch) -> None:
    end = Ledger.end_call

    def keep(self: Any, held: Any, spent: Any) -> None:
        end(self, held, spent)
        for ledger in self._list_accounts():
            ledger._calls_under_way += 1

    patch.setattr(Ledger, "end_call", keep)


def a_sub_agent_does_not_hear_of_a_cancellation(patch: pytest.MonkeyPatch) -> None:
    adopted = Tasks._adopt

    @contextmanager
    def deaf(self: Any, session: Any, call_id: Any) -> Any:
        with adopted(self, session, call_id):
            self.coordinator.cancellation.unregister_child(session.coordinator.cancellation)
            yield

    patch.setattr(Tasks, "_adopt", deaf)


def sub_agents_outlive_their_session(patch: pytest.MonkeyPatch) -> None:
    async def close(self: Any) -> None:
        del self

    patch.setattr(Tasks, "close", close)


def a_group_is_split_where_it_is_shortened(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        compaction, "group_messages", lambda messages: ([each] for each in range(len(messages)))
    )


def a_message_comes_between_a_call_and_its_result(patch: pytest.MonkeyPatch) -> None:
    take_step = Turn._take_step
    add = TurnHistory.add_results

    async def with_steering(self: Any) -> Any:
        state = self._state
        steering, history, hooks = state.loop.steering, state.history, state.hooks
        history.steer = lambda: steering.inject(history, hooks, 0)
        return await take_step(self)

    async def behind_steering(self: Any, messages: Any) -> None:
        listed = list(messages)
        await self.steer()
        await add(self, listed)

    patch.setattr(Turn, "_take_step", with_steering)
    patch.setattr(TurnHistory, "add_results", behind_steering)
    # Our contexts would put the results where they belong.
    patch.setattr(simple, "count_behind_calls", lambda messages: 0)


def an_answer_that_was_shown_is_asked_for_again(patch: pytest.MonkeyPatch) -> None:
    send = ModelCall._send

    async def again(self: Any, *given: Any) -> Any:
        try:
            return await send(self, *given)
        except StreamError:
            return await send(self, *given)

    patch.setattr(ModelCall, "_send", again)


def a_budget_is_checked_after_the_call(patch: pytest.MonkeyPatch) -> None:
    reserve = Ledger.reserve

    def late(self: Any, *given: Any, **options: Any) -> Any:
        answer = reserve(self, *given, **options)
        return answer if isinstance(answer, Reservation) else reserve(self, *given, is_closing=True)

    patch.setattr(Ledger, "reserve", late)
    patch.setattr(Ledger, "reached_limit", lambda self: None)


def a_block_that_was_cut_has_no_end(patch: pytest.MonkeyPatch) -> None:
    async def nothing(self: Any) -> None:
        del self

    patch.setattr(Display, "abort", nothing)
    patch.setattr(OpenBlocks, "abort", nothing)


def a_steering_message_is_forgotten_in_a_cancellation(patch: pytest.MonkeyPatch) -> None:
    async def forget(self: Any, hooks: Any, reason: str) -> None:
        del hooks, reason
        self._waiting.clear()

    patch.setattr(SteeringQueue, "discard", forget)


def a_failed_call_is_run_again(patch: pytest.MonkeyPatch) -> None:
    answered = CallRun._run_and_answer

    async def again(self: Any, *given: Any) -> Any:
        try:
            return await answered(self, *given)
        except ValueError:
            return await answered(self, *given)

    patch.setattr(CallRun, "_run_and_answer", again)


def a_warning_of_the_time_waits_for_the_next_step(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ledger, "seconds_to_warning", lambda self: None)


def a_call_runs_that_a_person_has_not_allowed(patch: pytest.MonkeyPatch) -> None:
    judge_call = HookPoints.judge_call

    async def allowing(self: Any, *given: Any, **options: Any) -> Any:
        verdict = await judge_call(self, *given, **options)
        if verdict.question is not None:
            verdict.denied = False
        return verdict

    patch.setattr(HookPoints, "judge_call", allowing)
    patch.setattr(CallQuestion, "confirm", lambda self, arguments: None)


def a_person_is_asked_two_things_at_once(patch: pytest.MonkeyPatch) -> None:
    lock = property(lambda self: anyio.Lock(), lambda self, lock: None)
    patch.setattr(HookPoints, "_approvals", lock, raising=False)


def a_late_answer_allows_what_its_default_denies(patch: pytest.MonkeyPatch) -> None:
    carry_out = HookPoints._carry_out

    def allowing(self: Any, result: Any, event: str) -> Any:
        return carry_out(self, result.model_copy(update={"approval_default": "allow"}), event)

    patch.setattr(HookPoints, "_carry_out", allowing)


def a_goal_that_is_reached_is_pursued_further(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pursuit, "read_judgement", lambda text: Judgement(False, text))


def a_goal_is_taken_for_reached_without_a_verdict(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pursuit, "read_judgement", lambda text: Judgement(True, text))


def a_goal_is_pursued_for_ever(patch: pytest.MonkeyPatch) -> None:
    begin = GoalPursuit.__init__

    def without_limit(
        self: Any, coordinator: Any, hooks: Any, rules: Any, *given: Any, **options: Any
    ) -> None:
        begin(self, coordinator, hooks, replace(rules, max_rounds=None), *given, **options)

    patch.setattr(GoalPursuit, "__init__", without_limit)


FAULTS: dict[Plant, int] = {
    a_result_is_added_twice: 20,
    calls_that_never_began_have_no_result: 100,
    the_failure_of_a_call_has_no_event: 20,
    what_a_call_used_is_not_settled: 100,
    a_reservation_is_never_taken_back: 100,
    a_sub_agent_does_not_hear_of_a_cancellation: 400,
    sub_agents_outlive_their_session: 100,
    a_group_is_split_where_it_is_shortened: 100,
    a_message_comes_between_a_call_and_its_result: 100,
    an_answer_that_was_shown_is_asked_for_again: 100,
    a_budget_is_checked_after_the_call: 100,
    a_block_that_was_cut_has_no_end: 100,
    a_steering_message_is_forgotten_in_a_cancellation: 100,
    a_failed_call_is_run_again: 100,
    a_warning_of_the_time_waits_for_the_next_step: 300,
    a_call_runs_that_a_person_has_not_allowed: 100,
    a_person_is_asked_two_things_at_once: 100,
    a_late_answer_allows_what_its_default_denies: 100,
    a_goal_that_is_reached_is_pursued_further: 100,
    a_goal_is_taken_for_reached_without_a_verdict: 100,
    a_goal_is_pursued_for_ever: 100,
}
"""Each fault, and in how many sessions it must be found."""
