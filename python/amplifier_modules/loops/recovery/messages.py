"""What a model reads of the errors of its last answer: first what to do, then what was found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...tool.loop_breaking import can_end_turn
from .errors import ErrorKind, RecoverableError

_MAX_CHARS = 300
"""How much of an error, or of a list of names, a message quotes."""

TEMPLATES = {
    ErrorKind.NO_TOOL_CALL: (
        "Call a tool now: your last message has no tool call, and only a tool can end the task."
    ),
    ErrorKind.QUOTED_CALL: (
        "Nothing ran: your call of `{name}` is in a code block, inline code, a comment or a"
        " quotation. To run it, write it again outside of them. If you only meant to show it, repeat"
        " your answer."
    ),
    ErrorKind.BAD_PAYLOAD: "Write {call} again as one complete call. Found: {text}.",
    ErrorKind.NO_TOOL_NAME: "Write {call} again with the name of a tool. It has none. {tools}",
    ErrorKind.UNKNOWN_TOOL: (
        "Write {call} again with the name of an existing tool. There is no tool `{name}`. {tools}"
    ),
    ErrorKind.BAD_ARGUMENTS: (
        "Write {call} again with arguments that fit the schema of `{name}`. Found: {text}."
    ),
    # The text of a tool is not quoted: it may come from anywhere, and this is a message of the user.
    ErrorKind.TOOL_FAILED: (
        "Change the arguments of {call}, or go on without it. `{name}` failed; its result says why."
    ),
    ErrorKind.CALL_DENIED: (
        "Go on without {call}. The call of `{name}` was denied; its result says why."
    ),
}
SOME_SUCCEEDED = "Do not repeat the other calls: they succeeded."
REPEATED = "The same error occurred {count} times in a row. After {most} times the task is ended."
EXAMPLE = "Example of a call: {example}"
_ABOUT_FORM = frozenset(TEMPLATES) - {ErrorKind.TOOL_FAILED, ErrorKind.CALL_DENIED}


def line_about(error: RecoverableError, calls: int, tools: Mapping[str, Any]) -> str:
    """Return what the model reads of one error.

    Args:
        error: The error.
        calls: How many calls its answer has.
        tools: Mounted tools by name.
    """
    call = (
        "your call" if error.index is None or calls == 1 else f"call {error.index + 1} of {calls}"
    )
    return TEMPLATES[error.kind].format(
        call=call,
        name=clip_line(error.tool_name),
        text=clip_line(error.text).rstrip("."),
        tools=_choice(error.tool_name, tools),
    )


def tool_for_example(errors: Iterable[RecoverableError], tools: Mapping[str, Any]) -> str | None:
    """Return the tool that an example calls; None where no error is about the form of calls.

    It is the tool that the first of these errors meant, else one that ends turns, else any.
    """
    names = [error.tool_name for error in errors if error.kind in _ABOUT_FORM]
    if not names or not tools:
        return None
    meant = filter(None, (_nearest(name, tools) for name in names))
    final = (name for name, tool in tools.items() if can_end_turn(tool))
    return next(meant, None) or next(final, None) or next(iter(tools))


def reminder_of(lines: Sequence[str]) -> str:
    """Return the message with these lines."""
    text = "\n".join(lines)
    return f"<system-reminder>{text}</system-reminder>"


def clip_line(text: str) -> str:
    """Return a text on one line, cut where it is too long for a message."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARS else f"{line[:_MAX_CHARS]}…"


def _nearest(name: str, tools: Mapping[str, Any]) -> str | None:
    return name if name in tools else next(iter(difflib.get_close_matches(name, tools, n=1)), None)


def _choice(name: str, tools: Mapping[str, Any]) -> str:
    if nearest := _nearest(name, tools):
        return f"Did you mean `{nearest}`?"
    return f"The tools: {clip_line(', '.join(f'`{each}`' for each in sorted(tools)) or 'none')}."
