"""Foreign text as a few lines that are safe to draw, with their indentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from amplifier_guard import TerminalText
from amplifier_providers.running.count_noun import count_noun

MAX_LINES = 12
"""So many lines of a change or an output are drawn."""
_TAIL_LINES = 7
"""So many of them are from the end of an output, which says how it went."""
_MAX_LINE_CHARS = 300

Line: TypeAlias = tuple[str, str]
"""A line that is safe to draw, and the name of its style."""


def show_line(text: str) -> str:
    """Return one line as it can be drawn, with its blanks; a long one is cut."""
    shown = TerminalText.show(text[: 2 * _MAX_LINE_CHARS].removesuffix("\r"))
    if len(shown) <= _MAX_LINE_CHARS:
        return shown
    return f"{shown[: _MAX_LINE_CHARS - 1]}…"


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, without empty ones at both ends."""
    lines = text.split("\n")
    filled = [place for place, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def describe_rest(count: int, *, is_whole: bool = True) -> Line:
    """Return the line that says how many lines are not drawn.

    Args:
        count: How many there are.
        is_whole: Whether that is all of them.
    """
    beginning = "" if is_whole else "more than "
    return f"… {beginning}{count_noun(count, 'more line')}", "note"


def take_beginning(lines: Sequence[str], most: int) -> list[Line]:
    """Return the first lines, and how many more there are."""
    # A line alone takes no more room than to say that there is one.
    if len(lines) <= most + 1:
        return [(show_line(line), "") for line in lines]
    shown = [(show_line(line), "") for line in lines[:most]]
    return [*shown, describe_rest(len(lines) - most)]


def take_both_ends(lines: Sequence[str], *, is_whole: bool) -> list[Line]:
    """Return the first and last lines, and between them how many more there are."""
    if len(lines) <= MAX_LINES + 1:
        return [(show_line(line), "") for line in lines]
    head = MAX_LINES - _TAIL_LINES
    rest = describe_rest(len(lines) - MAX_LINES, is_whole=is_whole)
    shown = [(show_line(line), "") for line in [*lines[:head], *lines[-_TAIL_LINES:]]]
    return [*shown[:head], rest, *shown[head:]]
