"""The whole output of a command: in memory while it is short, and then in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

MAX_FILE_BYTES = 64 * 2**20
"""Bytes of a file, at most."""


class OutputFile:
    """Keeps the whole output, at most `MAX_FILE_BYTES` of it; that it cannot is no failure."""

    path: Path | None = None
    """Where the output is; None while it is in memory, or if there is no file."""
    problem: str | None = None
    """Why the file is not the whole output; None where it is."""

    def __init__(self, name: Callable[[], Path], most_in_memory: int) -> None:
        """Keep an output.

        Args:
            name: Returns the path for the file, which does not exist.
            most_in_memory: Bytes above which there is a file.
        """
        self._name = name
        self._most_in_memory = most_in_memory
        self._held = bytearray()
        self._written = 0
        self._file: BinaryIO | None = None

    def add(self, piece: bytes) -> None:
        """Take what has come."""
        if self.problem is not None:
            return
        if self._file is None:
            self._held += piece
            if len(self._held) <= self._most_in_memory:
                return
            piece = bytes(self._held)
            self._held.clear()
        try:
            self._write(piece)
        except OSError as error:
            self.problem = f"it ends after {self._written:,} bytes: {error.strerror or error}"
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, piece: bytes) -> None:
        if self._file is None:
            path = self._name()
            # Commands write the folder too: no link of theirs is followed.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file, self.path = os.fdopen(descriptor, "wb", buffering=0), path
        room = MAX_FILE_BYTES - self._written
        left = memoryview(piece[:room])
        while left:
            count = self._file.write(left)
            self._written += count
            left = left[count:]
        if len(piece) > room:
            self.problem = f"it has the first {MAX_FILE_BYTES // 2**20} MiB"
            self.close()
