"""The command in a pseudo-terminal of 24 rows, and what is on its screen and above it."""

from __future__ import annotations

import copy
import fcntl
import struct
import termios
from typing import Any

import pyte
from terminal import Terminal
from typing_extensions import override

ROWS = 24
_OTHER_SCREEN = 1049


class TwoScreens(pyte.HistoryScreen):
    """A screen, and another one for what draws on all of it."""

    @override
    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        if modes == (_OTHER_SCREEN,):
            self.save_cursor()
            self._kept: Any = copy.deepcopy(self.buffer), copy.copy(self.history.top)
            self.erase_in_display(2)
        super().set_mode(*modes, **kwargs)

    @override
    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        if modes == (_OTHER_SCREEN,):
            self.buffer, top = self._kept
            self.history = self.history._replace(top=top)
            self.restore_cursor()
        super().reset_mode(*modes, **kwargs)


class EmulatedWindow(Terminal):
    """The command in a terminal of its own, which cuts rows when it gets narrower."""

    def __init__(self, command: Any, *arguments: str, columns: int) -> None:
        """Start it."""
        self._shown = TwoScreens(columns, ROWS, history=5000, ratio=0.5)
        self._stream = pyte.Stream(self._shown)
        self._fed = 0
        super().__init__(command, *arguments, columns=columns)

    @property
    def rows(self) -> list[str]:
        """All rows, those above the screen too, without the space at their ends."""
        self._stream.feed(self.written[self._fed :])
        self._fed = len(self.written)
        rows = [
            "".join(row[at].data for at in range(max(row, default=-1) + 1))
            for row in self._shown.history.top
        ]
        rows = [row.rstrip() for row in (*rows, *self._shown.display)]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def resize(self, columns: int) -> None:
        """Give it another width."""
        self.rows  # noqa: B018  # pyright: ignore[reportUnusedExpression]  # what comes later has it
        self._shown.resize(ROWS, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))

    def see_next(self) -> bool:
        """Wait until something is written; whether it can still be."""
        return self._read()

    def close(self) -> None:
        """Close the terminal, if that has not been."""
        if self._master >= 0:
            self.hang_up()

    @override
    def hang_up(self) -> int:
        try:
            return super().hang_up()
        finally:
            self._master = -1
