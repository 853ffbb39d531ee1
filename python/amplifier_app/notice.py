"""Lines on standard error: notices and errors."""

from __future__ import annotations

import contextlib
import sys

from amplifier_app.known_secrets import SECRETS

_MAX_CHARS = 2000


def show_notice(text: str) -> None:
    """Write foreign text as one line to standard error; never fails."""
    write_notice(SECRETS.write_line(text, _MAX_CHARS))


def write_notice(text: str) -> None:
    """Write safe text and a line break to standard error; never fails."""
    write_piece(f"{text}\n")


def write_piece(text: str) -> None:
    """Write safe text to standard error; never fails."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        return
    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
        sys.stderr.flush()
