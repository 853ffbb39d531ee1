"""Who has the changes of a session: at most one process, while a turn runs or something is undone."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from weakref import WeakSet

from amplifier_core import world

_MARK_BYTES = 16


class ChangesInUseError(RuntimeError):
    """Changes that another process makes or takes back right now."""


class SessionLock:
    """A lock on a folder; it ends with its process, whatever happens to that."""

    def __init__(self, folder: Path, name: str = "lock") -> None:
        """Describe the lock of a folder, by the name of its file."""
        self._path = folder / name
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock."""
        return self._file is not None

    def take(self) -> None:
        """Take the lock; do nothing if this object has it.

        Raises:
            ChangesInUseError: Somebody else has it.
        """
        import fcntl

        while self._file is None:
            file = _open(self._path)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                os.close(file)
                raise ChangesInUseError(
                    f"the changes of session `{self._path.parent.name}` are in use: a turn of it"
                    " runs in another process"
                ) from error
            if not _is_at(file, self._path):
                # Who had the lock before has removed its file: others lock the next one.
                os.close(file)
                continue
            self._file = file
            _held.add(self)

    def release(self) -> None:
        """Give the lock back; do nothing without it."""
        if self._file is not None:
            import fcntl

            file, self._file = self._file, None
            # Not by closing alone: a process that is being started may have the file, too.
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)

    def read_mark(self) -> bytes:
        """Return what the last one wrote that changed something under the lock; it must be held."""
        return b"" if self._file is None else os.pread(self._file, _MARK_BYTES, 0)

    def write_mark(self) -> bytes:
        """Write another mark, and return it; the lock must be held.

        Raises:
            OSError: The disk refuses it.
        """
        mark = world.random_bytes(_MARK_BYTES)
        if self._file is not None:
            try:
                os.pwrite(self._file, mark, 0)
            except OSError as error:
                # A file that could only be opened to be read.
                number = errno.EROFS if error.errno == errno.EBADF else error.errno
                raise OSError(number, os.strerror(number or 0), str(self._path)) from error
        return mark

    def leave_to_parent(self) -> None:
        """Forget the lock in a fork, so that it ends with the process that took it."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


_held: WeakSet[SessionLock] = WeakSet()


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES):
            raise
        # On a disk that is read-only, changes can still be looked at.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _is_at(file: int, path: Path) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(file), there)


def _leave_to_parent() -> None:
    for lock in _held:
        lock.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
