"""A text stream for a screen whose last line belongs to somebody who types."""

from __future__ import annotations

import io
from collections.abc import Callable

from typing_extensions import override

_ERASE = "\r\x1b[K"
"""What the display writes to erase the line that it is at."""


class LineStream(io.TextIOBase):
    """Passes whole lines on, and keeps the one that is not complete.

    Args:
        put: Takes each whole line, with its line break.
        changed: Called when `live` changed.
        encoding: That of the terminal.
    """

    def __init__(
        self, put: Callable[[str], None], changed: Callable[[], None], encoding: str
    ) -> None:
        super().__init__()
        self._put = put
        self._changed = changed
        self._encoding = encoding
        self.live = ""
        """The last line, as far as it is written."""

    @property
    @override
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]  # fixed
        return self._encoding

    @override
    def isatty(self) -> bool:
        return True

    @override
    def writable(self) -> bool:
        return True

    @override
    def write(self, text: str, /) -> int:
        """Take text."""
        *whole, live = (self.live + text).split("\n")
        for line in whole:
            self._put(_left_of(line) + "\n")
        live = _left_of(live)
        if live != self.live:
            self.live = live
            self._changed()
        return len(text)


def _left_of(line: str) -> str:
    """What is left of a line after the last time that it was erased."""
    return line.rpartition(_ERASE)[2]
