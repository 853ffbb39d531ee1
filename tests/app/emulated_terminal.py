"""A terminal in memory that can be read."""

from __future__ import annotations

import io
import re
from typing import Any

import pyte


class Emulated(io.StringIO):
    """A terminal in memory with its scrollback."""

    encoding = "utf-8"

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = columns
        self._terminal = pyte.HistoryScreen(columns, 60, history=10_000, ratio=0.5)
        self._stream = pyte.Stream(self._terminal)

    def isatty(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        # The emulator drops what comes in one piece after a sign that joins two others.
        for piece in re.split("(\u200d)", text.replace("\n", "\r\n")):
            self._stream.feed(piece)
        return super().write(text)

    def resize(self, columns: int) -> None:
        self.columns = columns
        self._terminal.resize(60, columns)

    @property
    def rows(self) -> list[str]:
        """All rows, the ones above the screen too."""
        above = [
            "".join(line[at].data for at in range(max(line, default=-1) + 1))
            for line in self._terminal.history.top
        ]
        return (
            "\n".join(row.rstrip() for row in [*above, *self._terminal.display])
            .rstrip()
            .split("\n")
        )

    @property
    def cells(self) -> list[list[tuple[Any, ...]]]:
        """The characters of all rows with their styles, without the blanks at the ends of rows."""
        lines = [*self._terminal.history.top, *(self._terminal.buffer[at] for at in range(60))]
        rows = [[line[at] for at in range(max(line, default=-1) + 1)] for line in lines]
        for row in rows:
            while row and row[-1].data == " " and not row[-1].underscore:
                row.pop()
        while rows and not rows[-1]:
            rows.pop()
        return [[(c.data, c.fg, c.bold, c.italics, c.underscore) for c in row] for row in rows]
