"""Lines on standard error: notices and errors."""

from __future__ import annotations

import contextlib
import sys

from amplifier_app.printable import printable_line

_LONGEST = 2000


def notice(text: str) -> None:
    """Write one line to standard error, whatever the text holds; never fails."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        return
    line = printable_line(text, _LONGEST)
    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(line.encode(encoding, "replace").decode(encoding) + "\n")
        sys.stderr.flush()
