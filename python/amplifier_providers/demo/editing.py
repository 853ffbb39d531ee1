"""Adding a function to a Python file: a look, the function, its test, a run of it, and a report."""

from __future__ import annotations

from .edit_progress import EDIT_TOOLS, RUN, EditProgress
from .edit_report import write_edit_report
from .edit_request import EditRequest
from .foreign import write_code
from .known_functions import KNOWN_FUNCTIONS
from .prompt import describe_request
from .seen_file import LOOK
from .source_change import Change
from .turn import Answer, Call, Turn, new_call

_MAX_ROUNDS = 6
"""Rounds of calls after which it reports in any case: there are four, unless results get lost."""


def answer_edit(turn: Turn, request: EditRequest) -> Answer:
    """Make the next step, or report if there is none."""
    problem = request.problem or _find_obstacle(turn, request)
    if problem and not turn.rounds:
        thoughts = f"{describe_request(turn.prompt)} It asks for a change that I cannot make."
        return Answer(thoughts if turn.thinks else "", problem, [])
    progress = EditProgress(turn, request)
    thoughts, calls = _choose_step(turn, progress)
    if turn.may_call and turn.rounds < _MAX_ROUNDS and calls:
        return Answer(thoughts, "", calls) if turn.thinks else Answer("", thoughts, calls)
    thoughts = "Now I report what has changed, and nothing that the tools did not say."
    can_run = RUN in turn.tools
    return Answer(thoughts if turn.thinks else "", write_edit_report(progress, can_run=can_run), [])


def _find_obstacle(turn: Turn, request: EditRequest) -> str:
    lacking = sorted(EDIT_TOOLS - turn.tools.keys())
    what = f"I cannot add {write_code(request.function)} to {write_code(request.path)}"
    if lacking:
        tools = " and ".join(f"no tool {write_code(name)}" for name in lacking)
        return f"{what}, as there is {tools}."
    return "" if turn.may_call else f"{what}: I may not call a tool now."


def _choose_step(turn: Turn, progress: EditProgress) -> tuple[str, list[Call]]:
    """Return the calls to make now, and the thoughts before them; none if there is no more to do."""
    request = progress.request
    code, test = write_code(request.path), write_code(request.test_path)
    if progress.code is None:
        paths = (request.path, request.test_path)
        before = f"Before I change anything, I look whether {code} and {test} are there."
        calls = [new_call(LOOK, {"path": path}) for path in paths]
        return f"{describe_request(turn.prompt)} {before}", calls
    if progress.code_change is not None and progress.code_write is None:
        return _think_of_code(progress), [_make_call(progress.code_change)]
    if progress.has_function and progress.test_change is not None and progress.test_write is None:
        is_new = progress.test is not None and progress.test.text is None
        thoughts = f"{write_code(request.function)} is in {code}. Its test belongs into {test}"
        thoughts += ", which is not there yet." if is_new else "."
        return thoughts, [_make_call(progress.test_change)]
    if progress.has_function and progress.has_test and progress.run is None and RUN in turn.tools:
        thoughts = f"Whether {write_code(request.function)} works is to be seen: I run its test."
        return thoughts, [new_call(RUN, {"command": request.command})]
    return "", []


def _think_of_code(progress: EditProgress) -> str:
    request = progress.request
    code, function = write_code(request.path), write_code(request.function)
    text = progress.code.text if progress.code else None
    seen = f"{code} is not there, so I write it" if text is None else (
        f"{code} is there and has no {function}, so I add it and leave the rest as it is"
    )  # fmt: skip
    if request.function in KNOWN_FUNCTIONS:
        return f"{seen}."
    return f"{seen}. I do not know what {function} is to do, so its body is still to be written."


def _make_call(change: Change) -> Call:
    return new_call(change.tool, change.arguments)
