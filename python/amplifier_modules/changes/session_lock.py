"""Who has the changes of a session: at most one process, while a turn runs or something is undone."""

from __future__ import annotations

import os
from pathlib import Path


class ChangesInUseError(RuntimeError):
    """Changes that another process makes or takes back right now."""


class SessionLock:
    """A lock on a folder; it ends with its process, whatever happens to that."""

    def __init__(self, folder: Path) -> None:
        """Describe the lock of a folder."""
        self._path = folder / "lock"
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock."""
        return self._file is not None

    def acquire(self) -> None:
        """Take the lock; do nothing if this object has it.

        Raises:
            ChangesInUseError: Somebody else has it.
        """
        if self._file is not None:
            return
        import fcntl

        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(file)
            raise ChangesInUseError(
                f"the changes of session `{self._path.parent.name}` are in use: a turn of it runs"
                " in another process"
            ) from error
        self._file = file

    def release(self) -> None:
        """Give the lock back; do nothing without it."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)
