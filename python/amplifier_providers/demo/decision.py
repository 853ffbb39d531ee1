"""What the demo model says or does next, from the request alone: the same request, the same answer."""

from __future__ import annotations

import json

from .edit_request import read_edit_request
from .editing import answer_edit
from .foreign import write_code, write_output
from .named_call import NamedCall, read_call
from .next_step import choose_calls, think
from .prompt import describe_request
from .report import write_report
from .survey import read_survey
from .talk import answer_talk, explain_abilities, explain_blindness, wants_a_look
from .turn import Answer, Result, Turn, new_call
from .undo_request import asks_to_undo
from .undoing import answer_undo


def decide(turn: Turn) -> Answer:
    """Call a tool, take back or add a function, answer, or look at the folder and report."""
    requested = _find_requested_call(turn)
    if requested is not None:
        return _answer_call(turn, requested)
    if asks_to_undo(turn.prompt):
        return answer_undo(turn)
    edit = read_edit_request(turn.prompt)
    if edit is not None:
        return answer_edit(turn, edit)
    reply = explain_blindness() if turn.has_images else answer_talk(turn)
    if reply is None and not (turn.results or wants_a_look(turn)):
        reply = explain_abilities(turn)
    if reply is not None and not turn.results:
        thoughts = f"{describe_request(turn.prompt)} I can answer it without a tool."
        return Answer(thoughts if turn.thinks else "", reply, [])
    return _look(turn)


def _look(turn: Turn) -> Answer:
    survey = read_survey(turn)
    calls = choose_calls(turn, survey) if turn.may_call and not survey.is_empty else []
    thoughts = think(turn, survey, calls)
    if not calls:
        return Answer(thoughts if turn.thinks else "", write_report(turn, survey), [])
    return Answer(thoughts, "", calls) if turn.thinks else Answer("", thoughts, calls)


def _find_requested_call(turn: Turn) -> NamedCall | None:
    """The call that the request asks for, in one of its lines or as a whole."""
    found = [
        read_call(each, turn.tools, turn.far) for each in (turn.prompt, *turn.prompt.splitlines())
    ]
    calls = [each for each in found if each is not None]
    return next((each for each in calls if not each.problem), calls[0] if calls else None)


def _answer_call(turn: Turn, requested: NamedCall) -> Answer:
    results = [each for each in turn.results if not _is_look_up(turn, requested, each)]
    if results or (turn.rounds and not turn.results):
        thoughts = (
            f"{describe_request(turn.prompt)} The tool has answered, so I report what it said."
        )
        report = "\n\n".join(_report_result(result) for result in results)
        return Answer(thoughts if turn.thinks else "", report or "The call has no result.", [])
    problem = requested.problem
    if not problem and not turn.may_call:
        problem = f"I may not call a tool now, so {write_code(requested.tool)} was not called."
    if problem:
        thoughts = f"{describe_request(turn.prompt)} It asks for a call that I cannot make."
        return Answer(thoughts if turn.thinks else "", problem, [])
    asks = f"It asks for a call of {write_code(requested.tool)}."
    if requested.sought:
        asks = f"I look up what {write_code(requested.sought)} takes."
    thoughts = f"{describe_request(turn.prompt)} {asks}"
    name, arguments = requested.tool, requested.arguments
    if turn.far is not None and name not in turn.tools:
        name, arguments = turn.far.wrap(name, arguments)
    calls = [new_call(name, arguments)]
    return Answer(thoughts, "", calls) if turn.thinks else Answer("", thoughts, calls)


def _is_look_up(turn: Turn, requested: NamedCall, result: Result) -> bool:
    """Whether a result only says what the requested tool takes."""
    if turn.far is None or result.failed:
        return False
    return result.call.name == turn.far.finder != requested.tool


def _report_result(result: Result) -> str:
    name = write_code(result.call.name)
    output = result.text
    try:
        output = json.dumps(json.loads(output), indent=2, ensure_ascii=False)
        language = "json"
    except (ValueError, RecursionError):
        language = ""
    if not output.strip():
        return f"{name} {'failed without a reason' if result.failed else 'answered nothing'}."
    return (
        f"{name} {'failed' if result.failed else 'answered'}:\n\n{write_output(output, language)}"
    )
