"""A question in the terminal that needs no answer any more: it goes, and a line is in its place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from amplifier_app.plain_mode import is_plain


@dataclass
class Withdrawal:
    """Why a question goes; whoever withdraws it says so first."""

    line: str = ""
    """Who has answered it, safe to show; empty where nobody has."""


@dataclass(frozen=True)
class ShownQuestion:
    """A question on the screen, which waits for its answer below."""

    mark: str
    """What its rows begin with."""
    rows: int
    """How many they are; 0 where that is not known."""
    columns: int
    """How wide the terminal was."""

    def find_erasing(self, typed: str, size: os.terminal_size, environ: Mapping[str, str]) -> str:
        """Return what erases the question; empty where that cannot be done.

        Args:
            typed: What is typed below it and has not been sent.
            size: That of the terminal.
            environ: The environment, which says what the terminal can do.
        """
        cells = len(self.mark) + 2 + len(typed)
        rows = self.rows + cells // self.columns
        is_known = typed.isascii() and (typed.isprintable() or not typed)
        is_there = self.rows > 0 and size.columns == self.columns and rows < size.lines
        if is_plain(environ) or not (is_known and is_there):
            return ""
        return f"\r\x1b[{rows}A\x1b[J"
