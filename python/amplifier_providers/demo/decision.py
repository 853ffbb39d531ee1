"""What the demo model says or does next, from the request alone: the same request, the same answer."""

from __future__ import annotations

import json

from amplifier_guard import TerminalText

from .conversation import Result, Turn
from .markup import code, fence
from .named_call import NamedCall, read_call
from .next_calls import next_calls
from .report import write_report
from .survey import read_survey
from .talk import misunderstood, reply, wants_a_look
from .thoughts import think
from .wire import Answer, new_call

_MAX_PROMPT_CHARS = 200
_MAX_RESULT_CHARS = 8_000


def decide(turn: Turn) -> Answer:
    """Call a tool, answer, or look at the folder and report."""
    asked = _find_asked_call(turn)
    if asked is not None:
        return _call(turn, asked)
    said = reply(turn)
    if said is None and not (turn.results or wants_a_look(turn)):
        said = misunderstood(turn)
    if said is not None and not turn.results:
        thoughts = f"{_request(turn)} I can answer it without a tool."
        return Answer(thoughts if turn.thinks else "", said, [])
    return _look(turn)


def _look(turn: Turn) -> Answer:
    survey = read_survey(turn)
    calls = next_calls(turn, survey) if turn.may_call and not survey.is_empty else []
    thoughts = think(turn, survey, calls)
    if not calls:
        return Answer(thoughts if turn.thinks else "", write_report(turn, survey), [])
    return Answer(thoughts, "", calls) if turn.thinks else Answer("", thoughts, calls)


def _find_asked_call(turn: Turn) -> NamedCall | None:
    """The call that the request asks for, in one of its lines or as a whole."""
    found = [read_call(each, turn.described) for each in (turn.prompt, *turn.prompt.splitlines())]
    calls = [each for each in found if each is not None]
    return next((each for each in calls if not each.problem), calls[0] if calls else None)


def _call(turn: Turn, asked: NamedCall) -> Answer:
    if turn.rounds:
        thoughts = f"{_request(turn)} The tool has answered, so I report what it said."
        said = "\n\n".join(_report_result(result) for result in turn.results)
        return Answer(thoughts if turn.thinks else "", said or "The call has no result.", [])
    problem = asked.problem
    if not problem and not turn.may_call:
        problem = f"I may not call a tool now, so {code(asked.tool)} was not called."
    if problem:
        thoughts = f"{_request(turn)} It asks for a call that I cannot make."
        return Answer(thoughts if turn.thinks else "", problem, [])
    thoughts = f"{_request(turn)} It asks for a call of {code(asked.tool)}."
    calls = [new_call(asked.tool, asked.arguments)]
    return Answer(thoughts, "", calls) if turn.thinks else Answer("", thoughts, calls)


def _report_result(result: Result) -> str:
    name = code(result.call.name)
    shown = result.text
    try:
        shown = json.dumps(json.loads(shown), indent=2, ensure_ascii=False)
        language = "json"
    except (ValueError, RecursionError):
        language = ""
    if len(shown) > _MAX_RESULT_CHARS:
        shown = (
            f"{shown[:_MAX_RESULT_CHARS]}\n… ({len(shown) - _MAX_RESULT_CHARS:,} more characters)"
        )
    if not shown.strip():
        return f"{name} {'failed without a reason' if result.failed else 'answered nothing'}."
    return f"{name} {'failed' if result.failed else 'answered'}:\n\n{fence(shown, language)}"


def _request(turn: Turn) -> str:
    asked = TerminalText.line(" ".join(turn.prompt.split()), _MAX_PROMPT_CHARS)
    return f"The request is: “{asked}”." if asked else "The request is empty."
