"""The answer alone on standard output, for pipes and scripts."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from amplifier_app.display.notices import Notice, message_notice, notice_of
from amplifier_app.display.server_lines import SERVER_STATE, ServerLines
from amplifier_app.notice import write_notice
from amplifier_app.plain_mode import is_plain

_PART_CHARS = 1024**2


class PlainOutput:
    """Writes the answer of a turn; waits and messages of hooks go to standard error.

    The text is as the model wrote it, without what would control a terminal.
    """

    shows_blocks = False

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._servers = ServerLines()
        self._on_failure: Callable[[], object] | None = None
        self.failure: OSError | None = None
        """Why nothing more can be written, if so."""

    def call_on_failure(self, act: Callable[[], object]) -> None:
        """Call this as soon as nothing more can be written."""
        self._on_failure = act

    def handle(self, event: str, data: Mapping[str, Any]) -> None:
        """Take one event."""
        if notice := self._find_notice(event, data):
            write_notice(notice[0])

    def _find_notice(self, event: str, data: Mapping[str, Any]) -> Notice | None:
        return self._servers.note(data) if event == SERVER_STATE else notice_of(event, data)

    def show_message(self, message: str, level: str = "info", source: str = "hook") -> None:
        """Show a message of a hook (the kernel's display system)."""
        write_notice(message_notice(message, level, source)[0])

    def answer(self, text: str) -> None:
        """Write the answer, in parts: a copy of the whole may not fit into memory."""
        from amplifier_guard import TerminalText

        if not text.strip():
            return
        terminal, last = TerminalText(), ""
        try:
            for start in range(0, len(text), _PART_CHARS):
                part = terminal.feed(text[start : start + _PART_CHARS])
                self._file.write(part)
                last = part or last
            rest = terminal.flush()
            self._file.write(rest if (rest or last).endswith("\n") else f"{rest}\n")
            self._file.flush()
        except OSError as error:
            self.failure = error
            if self._on_failure is not None:
                self._on_failure()

    def break_line(self) -> None:
        """Clear the line of a terminal of its echoed `^C`."""
        if not is_plain(os.environ) and sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
            with contextlib.suppress(OSError):
                sys.stderr.write("\r\x1b[K")

    def hold(self) -> None:
        """Do nothing: nothing is being drawn."""

    def release(self) -> None:
        """Do nothing: nothing was held."""

    def finish(self) -> None:
        """Do nothing: nothing is open."""
