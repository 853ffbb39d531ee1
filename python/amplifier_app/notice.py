"""Lines on standard error: notices and errors."""

from __future__ import annotations

import contextlib
import sys

from amplifier_app.known_secrets import SECRETS

_MAX_CHARS = 2000


def notice(text: str) -> None:
    """Write one line to standard error, whatever the text holds; never fails."""
    write_notice(SECRETS.line(text, _MAX_CHARS))


def write_notice(text: str) -> None:
    """Write text that may be shown already, and end its line; never fails."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        return
    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        sys.stderr.flush()
