"""A terminal that gets each drawing in one piece."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Generator
from typing import TextIO

from typing_extensions import override

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronized output: what is between is shown at once, where the terminal knows that."""


class WholeWrites(io.TextIOBase):
    """Keeps what is written until it is flushed, and then writes it at once.

    Args:
        terminal: The terminal.
        fail: Called when it cannot be written to; all that comes later is dropped.
    """

    def __init__(self, terminal: TextIO, fail: Callable[[], object]) -> None:
        super().__init__()
        self._terminal = terminal
        self._fail: Callable[[], object] | None = fail
        self._pieces: list[str] = []
        self._holds = 0

    @property
    @override
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]  # fixed
        return self._terminal.encoding or "utf-8"

    @override
    def isatty(self) -> bool:
        return True

    @override
    def fileno(self) -> int:
        return self._terminal.fileno()

    @override
    def writable(self) -> bool:
        return True

    @override
    def write(self, text: str, /) -> int:
        """Take text."""
        self._pieces.append(text)
        return len(text)

    @override
    def flush(self) -> None:
        """Write all that was taken, unless there is more to come."""
        if self._holds or not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        if self._fail is None:
            return
        try:
            self._terminal.write(f"{_BEGIN}{text}{_END}")
            self._terminal.flush()
        except OSError:
            fail, self._fail = self._fail, None
            fail()

    @contextlib.contextmanager
    def hold(self) -> Generator[None]:
        """Write what is flushed in this block at its end."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            self.flush()
