"""The interactive command in a pseudo-terminal, and what is on its screen."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import termios
from typing import Any

from terminal import PATIENCE, WAY_BACK, Terminal

ENTER, ALT_ENTER, CTRL_D, TAB, UP = b"\r", b"\x1b\r", b"\x04", b"\t", b"\x1b[A"
SHIFT_TAB = b"\x1b[Z"
_TOKEN = re.compile(r"\x1b\[[?>]?([\d;]*)([A-Za-z])|\x1b[=>]|[\r\n\b]|[^\x1b\r\n\b]+|\x1b")

_BEGUN = re.compile(r"\x1b(?:\[[?>]?[\d;]*)?\Z")
"""A sequence of which a read has only the beginning."""


class Screen:
    """The rows of a terminal of a width and of endless height, without styles."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._rows: list[str] = [""]
        self._row = 0
        self._column = 0
        self._wraps = True
        self._begun = ""

    @property
    def text(self) -> str:
        """The rows, without the space at their ends and below the last."""
        return "\n".join(row.rstrip() for row in self._rows).rstrip("\n")

    def feed(self, written: str) -> None:
        """Show what was written."""
        written = self._begun + written
        begun = _BEGUN.search(written)
        self._begun = begun[0] if begun else ""
        written = written.removesuffix(self._begun)
        for token in _TOKEN.finditer(written):
            if token[2]:
                self._control(token[0], token[1], token[2])
            elif token[0] == "\r":
                self._column = 0
            elif token[0] == "\b":
                self._column = max(0, self._column - 1)
            elif token[0] == "\n":
                self._down()
            elif not token[0].startswith("\x1b"):
                for character in token[0]:
                    self._put(character)

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append("")

    def _put(self, character: str) -> None:
        if self._column >= self._columns:
            self._column = self._column - 1
            if self._wraps:
                self._column = 0
                self._down()
        row = self._rows[self._row].ljust(self._column)
        self._rows[self._row] = row[: self._column] + character + row[self._column + 1 :]
        self._column += 1

    def _control(self, token: str, values: str, kind: str) -> None:
        count = int(values) if values.isdecimal() else 1
        if kind in "hl" and token.startswith("\x1b[?7"):
            self._wraps = kind == "h"
        elif kind == "A":
            self._row = max(0, self._row - count)
        elif kind == "B":
            for _ in range(count):
                self._down()
        elif kind == "C":
            self._column += count
        elif kind == "D":
            self._column = max(0, self._column - count)
        elif kind in "JK":
            self._rows[self._row] = self._rows[self._row][: self._column]
            if kind == "J":
                del self._rows[self._row + 1 :]


class PromptTerminal(Terminal):
    """The command in a terminal of its own, with a prompt."""

    def __init__(self, command: Any, *arguments: str, columns: int = 80) -> None:
        """Start it and wait for the first prompt."""
        self._screen = Screen(columns)
        super().__init__(command, *arguments, columns=columns)
        self.see_match("^(?:[a-z-]+ )?>$")

    @property
    def screen(self) -> str:
        """What is on the screen, but for the line that says how the session goes on."""
        return WAY_BACK.sub("", self.whole_screen)

    @property
    def whole_screen(self) -> str:
        """The rows of the screen and of what scrolled out of it."""
        return self._screen.text

    def see(self, text: str, times: int = 1) -> None:
        """Wait until a text is on the screen so often."""
        self.see_match(re.escape(text), times)

    def see_match(self, pattern: str, times: int = 1) -> None:
        """Wait until a pattern is found on the screen so often."""
        while len(re.findall(pattern, self.screen, re.MULTILINE)) < times:
            assert self._read(), f"{pattern!r} never came:\n{self.screen}"

    def say(self, line: str) -> None:
        """Type a line."""
        self.type(line.encode() + ENTER)

    def resize(self, columns: int) -> None:
        """Change the width."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        assert ready, f"the command hangs:\n{self.screen}"
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other side has gone
            return False
        text = self._decode(piece)
        self.written += text
        self._screen.feed(text)
        return bool(piece)
