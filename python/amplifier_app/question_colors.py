"""The colours of a difference in a question: given to rows by what wrote them, not by what a file says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from amplifier_app.plain_mode import is_plain

_RESET = "\x1b[0m"
_COLORS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[2m", "\\": "\x1b[2m"}
_QUESTIONS = re.compile(
    r"(the sub-agent [^\n]* asks:\n)?"
    r"(put these changes into the project\?|run `(apply_patch|edit_file|write_file)`\? \()"
)
"""How questions begin whose rows are those of `git diff`, each behind `|` and blanks."""
_MARK = 6
"""Characters of the mark that a row begins with."""
_FILE, _NESTED = 4, 6
"""Where the sign of a line is: of a file, and of a file in a folder that was made."""


def shows_colors(environ: Mapping[str, str]) -> bool:
    """Whether the terminal has colours, and they are wanted."""
    is_wanted = not environ.get("NO_COLOR") and not is_plain(environ)
    return is_wanted and environ.get("TERM") not in (None, "", "dumb", "unknown")


def shows_difference(question: str) -> bool:
    """Whether a question is one of ours that shows a difference."""
    return _QUESTIONS.match(question) is not None


def color_rows(rows: Sequence[str]) -> Iterator[str]:
    """Yield the rows of a question with colours behind the marks.

    A line of a difference begins with its sign at a place that only a row above it can change which
    names a path; so no line of a file can have the colour of another sign.
    """
    place, color = _FILE, ""
    for row in rows:
        mark, line = row[:_MARK], row[_MARK:]
        if mark.endswith("| "):
            if re.match(r"\| \S", line):
                place, color = _FILE, ""
            elif re.match(r"\|   [a-z]", line):
                place, color = _NESTED, ""
            else:
                is_line = line[:place] == "|".ljust(place)
                color = _COLORS.get(line[place : place + 1], "") if is_line else ""
        yield f"{mark}{color}{line}{_RESET}" if color else row
