"""Where in a text something like another text is, for whoever wrote that text down wrongly."""

from __future__ import annotations

from difflib import get_close_matches

_MAX_LINES = 5000
_MAX_LINE_CHARS = 300
_MAX_FOUND = 3


def find_near_lines(text: str, wanted: str) -> str:
    """Return in which lines something like the wanted text is."""
    lines = text.split("\n")
    sought = [_remove_blanks(line) for line in wanted.strip("\n").split("\n")]
    joined = "\n".join(map(_remove_blanks, lines))
    place = joined.find("\n".join(sought)) if any(sought) else -1
    if place >= 0:
        first = joined.count("\n", 0, place) + 1
        return f"{_name_range(first, first + len(sought) - 1)} differ from it only in blanks"
    longest = max((line.strip() for line in wanted.split("\n")), key=len)
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines[:_MAX_LINES], 1):
        numbers.setdefault(line.strip()[:_MAX_LINE_CHARS], number)
    found = get_close_matches(longest[:_MAX_LINE_CHARS], numbers, n=_MAX_FOUND)
    if not found:
        return "no line is like it; read the file again"
    near = ", ".join(f"{number}" for number in sorted(numbers[line] for line in found))
    return f"most like it: line {near}" if len(found) == 1 else f"most like it: lines {near}"


def _remove_blanks(line: str) -> str:
    return "".join(line.split())


def _name_range(first: int, last: int) -> str:
    return f"lines {first} to {last}" if last > first else f"parts of line {first}"
