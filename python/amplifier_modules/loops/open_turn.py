"""A turn that another process has left open, on its way on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.session_capabilities import SESSION_STORED_HISTORY, TURN_GOES_ON

from ..contexts.history_events import REPAIR
from ..contexts.open_calls import OpenCall, OpenCalls
from ..tool.context import AskedBefore
from .answers.response import RequestedCall, join_texts
from .stored_turn import StoredTurn
from .tool_answer import Answer, fit_content
from .tool_call import Repetition
from .tool_calls import ToolRound
from .turn_state import TurnState

_WARNING = "it may have had its effect already: the process ended while it ran. Run it again?"
"""What a person reads before a call that nobody knows the outcome of."""


def restore_turn(state: TurnState, stored: StoredTurn) -> None:
    """Count on from what another process has counted of the turn."""
    # What the program runs next, such as a repair of the answer, is a turn that begins.
    state.hooks.coordinator.register_capability(TURN_GOES_ON, False)
    state.report.iterations = stored.iterations
    state.report.answer = stored.find_answer()
    if state.recovery is not None and stored.errors is not None:
        state.recovery.restore(stored.errors)
    if state.recovery is None or not state.recovery.owns_calls:
        for calls in stored.list_ended():
            answered = [(call, _read_answer(message)) for call, message in calls]
            notes = state.equal_errors.note(answered)
            stored.notes = {call.id: note for (call, _), note in zip(calls, notes, strict=True)}
    for calls in stored.list_unjudged():
        requested, messages = zip(*calls, strict=True)
        state.actions.note(requested, messages)


async def finish_open_calls(state: TurnState, turn: StoredTurn) -> list[RequestedCall]:
    """Add a result for each call that has none; return those that still wait for a person.

    A call that ended has its own. One whose tool `continues_calls` goes on with what it has asked, or
    with its sub-agents. Another one that began runs again if its tool is `idempotent` or
    `read_only`, or if a person allows it; one that a person is asked about runs if that allows it.
    Of any other the model is told what is known.
    """
    stored = state.hooks.coordinator.get_capability(SESSION_STORED_HISTORY)
    calls: OpenCalls = stored.take_open_calls()
    waiting = await _finish(state, calls.written, turn.notes)
    if (answer := calls.make_answer()) is not None:
        await state.history.add(answer, REPAIR)
    return waiting + await _finish(state, calls.unwritten, {})


async def _finish(
    state: TurnState, calls: Sequence[OpenCall], notes: Mapping[str, str | None]
) -> list[RequestedCall]:
    if not calls:
        return []
    results = {call.id: _add_note(state, call.make_result(), notes.get(call.id)) for call in calls}
    run_now = [(call, _find_repetition(state, call)) for call in calls if _may_run(state, call)]
    waiting: list[RequestedCall] = []
    try:
        if run_now:
            async with ToolRound(state) as calls_again:
                for call, repetition in run_now:
                    if repetition is not None:
                        state.journal.keep_key(call.id, call.key)
                await calls_again.run_again((_request(call), each) for call, each in run_now)
            results |= {each["tool_call_id"]: each for each in calls_again.results}
            waiting = calls_again.put_off
            for each in waiting:
                del results[each.id]
    finally:
        await state.history.add_results(results.values())
    ended = [call for call in calls if call.id in results]
    state.actions.note(map(_request, ended), (results[call.id] for call in ended))
    return waiting


async def find_last_answer(state: TurnState) -> str | None:
    """Return the answer that the turn has already; None if the model is to be asked."""
    messages: list[dict[str, Any]] = await state.history.context.get_messages()
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant":
        return None
    return join_texts(last["content"])


def _read_answer(message: Mapping[str, Any]) -> Answer:
    return Answer(message["content"], is_error=message.get("is_error") is True)


def _add_note(state: TurnState, message: dict[str, Any], note: str | None) -> dict[str, Any]:
    """Return the message of a result with what the model reads of its failures."""
    if note is None:
        return message
    content = _read_answer(message).add_note(note)
    return {**message, "content": fit_content(state.rules.max_bytes, content)}


def _may_run(state: TurnState, call: OpenCall) -> bool:
    """Whether a call runs now, if whoever is asked allows it."""
    if call.result is not None:
        return False
    if call.key is None:
        # It did not start: a person was asked about it, or it was not its turn yet.
        return state.journal.questions.has_call(call.id)
    if _goes_on(state, call):
        return True
    has_person = getattr(state.hooks.coordinator, "approval_system", None) is not None
    return has_person or _may_repeat(state, call)


def _find_repetition(state: TurnState, call: OpenCall) -> Repetition | None:
    if call.key is None:
        return None
    if _goes_on(state, call):
        return Repetition(call.make_result(), None, _find_asked(state, call), goes_on=True)
    return Repetition(call.make_result(), None if _may_repeat(state, call) else _WARNING)


def _goes_on(state: TurnState, call: OpenCall) -> bool:
    """Whether a call was kept, had asked something or had a sub-agent, and its tool goes on."""
    if getattr(state.tools.get(call.name), "continues_calls", False) is not True:
        return False
    has_task: bool = state.journal.tasks.has_call(call.id)
    is_kept = state.journal.find_step(call.id) is not None
    return has_task or is_kept or _find_asked(state, call) is not None


def _find_asked(state: TurnState, call: OpenCall) -> AskedBefore | None:
    """Return what a call had asked while it ran."""
    kept = state.journal.questions.find_asking(call.id)
    if kept is None or kept.resume is None:
        return None
    about = dict(kept.arguments)
    return AskedBefore(
        kept.prompt,
        about,
        tuple(kept.parts),
        kept.resume,
        kept.hash,
        is_answered=kept.answer is not None,
    )


def _may_repeat(state: TurnState, call: OpenCall) -> bool:
    """Whether the tool of a call says that it may run twice."""
    tool = state.tools.get(call.name)
    return any(getattr(tool, name, False) is True for name in ("idempotent", "read_only"))


def _request(call: OpenCall) -> RequestedCall:
    return RequestedCall(call.id, call.name, dict(call.arguments))
