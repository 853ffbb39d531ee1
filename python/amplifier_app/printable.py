"""Text of models, tools and servers as one line for a terminal."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from amplifier_app.engine import load_engine

if TYPE_CHECKING:
    from amplifier_guard import TerminalText


def printable_line(text: str, limit: int | None = None) -> str:
    """One line that neither acts on a terminal nor hides anything: see `TerminalText.line`.

    Args:
        text: Whatever came from outside.
        limit: The most characters; the last one is an ellipsis where the line is cut.
    """
    if terminal_text := _terminal_text():
        return terminal_text.line(text, limit)
    beginning = text if limit is None else text[: 4 * limit]
    line = "".join(map(_escaped, " ".join(beginning.split())))
    if limit is None or (len(line) <= limit and len(beginning) == len(text)):
        return line
    return line[: limit - 1] + "…"


@cache
def _terminal_text() -> type[TerminalText] | None:
    """The rule; None where the extension is missing, of which the user has to be told, too."""
    try:
        return load_engine().TerminalText
    except ImportError:
        return None


def _escaped(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]
