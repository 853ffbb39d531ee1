"""The lines that were typed, in a file of the user."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from prompt_toolkit.history import History
from typing_extensions import override

from amplifier_modules.running.user_folders import find_state_folder

_MAX_BYTES = 1024**2
"""Only so much of the end of the file is read."""


def history_path(environment: Mapping[str, str]) -> Path | None:
    """The place of the file; None if the user has no home.

    Args:
        environment: The environment variables.
    """
    folder = find_state_folder(environment)
    return None if folder is None else folder / "history"


class HistoryFile(History):
    """One JSON string a line, readable only by the user, and without secrets.

    Args:
        path: The file; it is made at the first line.
        redact: Removes secrets from a line.
        fail: Called once, with the reason, if the file cannot be written.
    """

    def __init__(
        self, path: Path, redact: Callable[[str], str], fail: Callable[[str], object]
    ) -> None:
        super().__init__()
        self._path = path
        self._redact = redact
        self._fail: Callable[[str], object] | None = fail

    @override
    def load_history_strings(self) -> Iterable[str]:
        """Return the lines, the newest first; none if the file cannot be read."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _MAX_BYTES))
                rows = file.read(_MAX_BYTES).split(b"\n")
        except OSError:
            return []
        if size > _MAX_BYTES:
            del rows[0]  # its beginning is missing
        return [line for row in reversed(rows) if (line := _read_line(row))]

    @override
    def store_string(self, string: str) -> None:
        """Add a line to the file."""
        if self._fail is None:
            return
        row = json.dumps(self._redact(string)) + "\n"
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.fchmod(descriptor, 0o600)
                os.write(descriptor, row.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            fail, self._fail = self._fail, None
            fail(f"`{self._path}`: {error.strerror}")


def _read_line(row: bytes) -> str:
    """The line that a row of the file holds; empty if it holds none."""
    try:
        found = json.loads(row)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""
