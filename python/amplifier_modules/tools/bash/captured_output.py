"""The output of one command, as it comes: what of it is shown, and the whole in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from .output_file import OutputFile
from .output_window import OutputWindow

_MAX_LINE_BYTES = 2000
MAX_SHOWN_BYTES = 2000
"""Bytes of a piece that is shown while the command runs, at most."""


@dataclass(frozen=True)
class TakenOutput:
    """What a result shows of an output."""

    text: str
    is_cut: bool
    """Whether its middle is left out."""
    file: Path | None
    """Where the whole is; None where it is short."""
    file_problem: str | None
    """Why the file is not the whole."""


class CapturedOutput:
    """Takes an output in one thread, and is asked for it in others."""

    def __init__(self, limit: int, name: Callable[[], Path]) -> None:
        """Take an output.

        Args:
            limit: Bytes of what is shown, at most.
            name: Returns the path for the file with the whole.
        """
        self._lock = Lock()
        self._window = OutputWindow(limit)
        self._end = b""
        self._file = OutputFile(name, limit)

    def add(self, piece: bytes) -> None:
        """Take what has come."""
        with self._lock:
            self._window.add(piece)
            self._end = (self._end + piece[-_MAX_LINE_BYTES:])[-_MAX_LINE_BYTES:]
        # Only the thread that reads writes the file: nobody waits for the disk.
        self._file.add(piece)

    def close(self) -> None:
        """End the output."""
        self._file.close()

    def show_end(self) -> str:
        """Return the last lines of what was not taken yet, for display."""
        with self._lock:
            return self._window.show_end(MAX_SHOWN_BYTES)

    def read_end(self) -> str:
        """Return the last bytes, also if they were taken."""
        with self._lock:
            return self._end.decode("utf-8", "replace")

    def find_last_line(self) -> str:
        """Return the last line that is not empty, or its end, also if it was taken."""
        lines = self.read_end().splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def take(self, *, is_over: bool) -> TakenOutput:
        """Return what has come since it was last taken.

        Args:
            is_over: Whether the command has ended.
        """
        with self._lock:
            text, is_cut = self._window.take(is_over=is_over)
        return TakenOutput(text, is_cut, self._file.path, self._file.problem)
