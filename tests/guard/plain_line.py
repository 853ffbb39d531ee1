"""Whether a text is one line in which nothing acts and nothing hides."""

from __future__ import annotations

from amplifier_guard import TerminalText


def is_plain_line(text: str) -> bool:
    """Judge by the tables of the engine: those of Python may know fewer characters."""
    return TerminalText.show(text) == text and not {"\n", "\t"} & set(text)
