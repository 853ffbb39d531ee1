"""Foreign text as one safe line for a terminal."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from amplifier_app.engine import load_engine

if TYPE_CHECKING:
    from amplifier_guard import TerminalText


def printable_line(text: str, limit: int | None = None) -> str:
    """One line that cannot control the terminal or hide anything: see `TerminalText.line`.

    Args:
        text: Text of a model, a tool or a server.
        limit: The maximum length; a line that is cut ends with an ellipsis.
    """
    if terminal_text := _terminal_text():
        return terminal_text.line(text, limit)
    # Nothing of the kernel can be imported where the extension is broken.
    beginning = text if limit is None else text[: 4 * limit]
    words = " ".join(beginning.split())
    line = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in words)
    if limit is None or (len(line) <= limit and len(beginning) == len(text)):
        return line
    return line[: limit - 1] + "…"


@cache
def _terminal_text() -> type[TerminalText] | None:
    """The extension's class; None if it is missing, because that error has to be shown, too."""
    try:
        load_engine()
    except ImportError:
        return None
    from amplifier_guard import TerminalText

    return TerminalText
