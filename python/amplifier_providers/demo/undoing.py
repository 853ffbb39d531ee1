"""Taking back what was changed in the last turn: a look, the changes, and a report."""

from __future__ import annotations

from amplifier_guard import TerminalText

from .edit_progress import RUN
from .foreign import list_names, write_code
from .own_changes import (
    OwnChange,
    find_last_acting_turn,
    has_taken_effect,
    list_other_calls,
    list_own_changes,
    remove_compiled,
)
from .prompt import describe_request
from .seen_file import LOOK, find_file
from .turn import Answer, Call, Result, Turn, new_call

_MAX_ROUNDS = 4
_MAX_CALLS_NAMED = 3
_EXACTLY = (
    "`/undo` in a conversation, and `amplifier-core undo` after one, take back all that a turn has"
    " changed, also by commands."
)


def answer_undo(turn: Turn) -> Answer:
    """Make the next step, or report if there is none."""
    undone = find_last_acting_turn(turn)
    changes = [] if undone is None else list_own_changes(undone)
    if undone is None or not changes or LOOK not in turn.tools or not turn.may_call:
        thoughts = f"{describe_request(turn.prompt)} There is nothing that I can take back."
        reply = _explain_refusal(undone, changes, turn)
        return Answer(thoughts if turn.thinks else "", reply, [])
    steps = [_Step(turn, each) for each in changes]
    thoughts, calls = _choose_step(turn, undone, steps)
    if calls and turn.rounds < _MAX_ROUNDS:
        return Answer(thoughts, "", calls) if turn.thinks else Answer("", thoughts, calls)
    thoughts = "Now I report what was taken back, and nothing that the tools did not say."
    return Answer(thoughts if turn.thinks else "", _report(turn, undone, steps), [])


class _Step:
    """The way back of one file, and how far it has come."""

    def __init__(self, turn: Turn, change: OwnChange) -> None:
        self.change = change
        self.file = find_file(turn.results, change.path)
        self.way: Call | str = ""
        """The call that takes it back, or why there is none."""
        if self.file is not None:
            self.way = change.find_way_back(self.file, turn.tools)
        self.result = None if isinstance(self.way, str) else _find_same(turn, self.way)

    @property
    def is_deleted(self) -> bool:
        """Whether the file is gone that was new."""
        return self.change.is_new and has_taken_effect(self.result)


def _find_same(turn: Turn, call: Call) -> Result | None:
    same = (call.name, call.input)
    return next((each for each in turn.results if (each.call.name, each.call.input) == same), None)


def _choose_step(turn: Turn, undone: Turn, steps: list[_Step]) -> tuple[str, list[Call]]:
    """Return the calls to make now, and the thoughts before them; none if there is no more to do."""
    unseen = [each.change.path for each in steps if each.file is None]
    if unseen:
        thoughts = f"{describe_request(turn.prompt)} I have changed"
        thoughts += f" {list_names(unseen, 10)}, so I look whether they are as I left them."
        return thoughts, [new_call(LOOK, {"path": path}) for path in unseen]
    ways = [each.way for each in steps if each.result is None]
    if calls := [each for each in ways if not isinstance(each, str)]:
        return "What is as I left it I take back: new files go, and edits are reversed.", calls
    cleaning = _find_cleaning(turn, undone, steps)
    if cleaning is not None and _find_same(turn, cleaning) is None:
        return "Python may have kept the compiled form of what is gone, so that goes, too.", [
            cleaning
        ]
    return "", []


def _find_cleaning(turn: Turn, undone: Turn, steps: list[_Step]) -> Call | None:
    """The call that deletes what a run of the files has left beside them."""
    has_run = any(each.call.name == RUN and not each.failed for each in undone.results)
    if not has_run or RUN not in turn.tools:
        return None
    return remove_compiled([each.change.path for each in steps if each.is_deleted])


def _report(turn: Turn, undone: Turn, steps: list[_Step]) -> str:
    lines = [f"- {write_code(each.change.path)} {_describe(each)}" for each in steps]
    cleaning = _find_cleaning(turn, undone, steps)
    if cleaning is not None and has_taken_effect(_find_same(turn, cleaning)):
        lines.append("- what Python had compiled of it in `__pycache__` is deleted")
    heading = f"# Taken back: “{_first_line_of(undone.prompt)}”"
    rest = f"I cannot know what else the commands have changed. {_EXACTLY}"
    return "\n\n".join([heading, "\n".join(lines), rest if list_other_calls(undone) else _EXACTLY])


def _describe(step: _Step) -> str:
    if step.file is None:
        return "was not looked at, so it stays"
    if isinstance(step.way, str):
        return f"stays: {_first_line_of(step.way)}"
    if step.result is None:
        return "stays: the call that takes it back was not made"
    if not has_taken_effect(step.result):
        return f"stays: {_first_line_of(step.result.text)}"
    return "is deleted: it was new" if step.change.is_new else "is as it was before"


def _explain_refusal(undone: Turn | None, changes: list[OwnChange], turn: Turn) -> str:
    """Say why nothing is taken back, and what does it."""
    if undone is None:
        return f"I have changed nothing in this conversation. {_EXACTLY}"
    if not changes:
        done = list_names(list_other_calls(undone), _MAX_CALLS_NAMED)
        return f"I do not know what {done} has changed, so I cannot take it back. {_EXACTLY}"
    reason = "I may not call a tool now" if LOOK in turn.tools else "there is no tool that reads"
    paths = list_names([each.path for each in changes], 10)
    return f"I have changed {paths}, but cannot take it back: {reason}. {_EXACTLY}"


def _first_line_of(text: str) -> str:
    line = next((each for each in text.splitlines() if each.strip()), "no reason")
    return TerminalText.line(line, 200)
