"""The output of one command, as it comes: what of it is shown, and the whole in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from .output_file import OutputFile
from .output_window import OutputWindow

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
        self._file = OutputFile(name, limit)

    def add(self, piece: bytes) -> None:
        """Take what has come."""
        with self._lock:
            self._window.add(piece)
        # Only the thread that reads writes the file: nobody waits for the disk.
        self._file.add(piece)

    def close(self) -> None:
        """End the output."""
        self._file.close()

    def show_end(self) -> str:
        """Return the last lines of what was not taken yet, for display."""
        with self._lock:
            return self._window.show_end(MAX_SHOWN_BYTES)

    def take(self, *, is_over: bool) -> TakenOutput:
        """Return what has come since it was last taken.

        Args:
            is_over: Whether the command has ended.
        """
        with self._lock:
            text, is_cut = self._window.take(is_over=is_over)
        return TakenOutput(text, is_cut, self._file.path, self._file.problem)
