"""Lines on standard error: notices and errors."""

from __future__ import annotations

import contextlib
import os
import re
import sys

from amplifier_app.known_secrets import SECRETS

_MAX_CHARS = 2000
_FIRST_COLUMN = re.compile(r" *\S+(?: \S+)* {2,}(?=\S)")


def show_notice(text: str) -> None:
    """Write foreign text as one line to standard error; never fails."""
    write_notice(SECRETS.write_line(text, _MAX_CHARS))


def write_notice(text: str) -> None:
    """Write safe text and a line break to standard error, wrapped in a terminal; never fails."""
    write_piece(f"{wrap_words(text)}\n")


def wrap_words(text: str) -> str:
    """Return text whose lines end at words where the terminal of standard error ends them.

    The rows of a line begin below what it begins with, or below its second column.
    """
    columns = measure_columns()
    lines = text.split("\n")
    if columns is None or (text.isascii() and max(map(len, lines)) < columns):
        return text
    # Imported here: the first line of a command is not to wait for it.
    from amplifier_app.display.wrapping import wrap_line

    return "\n".join(
        wrap_line(line, columns - 1, hang=_measure_first_column(line)) for line in lines
    )


def _measure_first_column(line: str) -> int | None:
    """How many characters come before the second column of a line; None where it has none."""
    found = _FIRST_COLUMN.match(line)
    return None if found is None else found.end()


def measure_columns() -> int | None:
    """How wide the terminal is that standard error goes to; None where it goes elsewhere."""
    stderr = sys.stderr
    try:
        if not stderr.isatty():
            return None
    except (AttributeError, ValueError):  # closed, or a stream of a program that has no such method
        return None
    # A conversation has put a stream before the terminal.
    for stream in (stderr, sys.__stderr__, sys.__stdout__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if columns := os.get_terminal_size(stream.fileno()).columns:  # pyright: ignore[reportOptionalMemberAccess]
                return columns
    return None


def write_piece(text: str) -> None:
    """Write safe text to standard error; never fails."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        return
    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
        sys.stderr.flush()
