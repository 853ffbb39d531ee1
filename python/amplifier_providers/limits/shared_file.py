"""A small file that processes of one user share, and the lock on it that the others respect."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _BEHIND_ALL = 1 << 62
    """What is locked cannot be read by others: a byte that no file has."""

    def lock(descriptor: int) -> bool:
        """Lock a file until its descriptor is closed; False if somebody else has locked it."""
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _BEHIND_ALL, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, place, os.SEEK_SET)
        return True

else:
    import fcntl

    def lock(descriptor: int) -> bool:
        """Lock a file until its descriptor is closed; False if somebody else has locked it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


logger = logging.getLogger(__name__)

MAX_BYTES = 1024**2
LOCK_SECONDS = 1.0
"""How long a change waits for others."""
_TRY_SECONDS = 0.002
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


class SharedFile:
    """A file that nobody has to trust: what is wrong with it is logged once, and no call fails.

    Each change is made under a lock, so that no process overwrites what another one has written. Only
    the user can read it; a file of somebody else, a link or a pipe is not used.
    """

    def __init__(self, path: str, trouble: str) -> None:
        """Use the file at `path`, which need not exist; `trouble` is logged if it cannot be used."""
        self._path = Path(path).expanduser()
        self._trouble = trouble
        self._is_told = False

    def read(self) -> bytes:
        """Return its content; nothing if it is absent, longer than `MAX_BYTES` or not to be used."""
        try:
            return self._read_content()
        except OSError as error:
            self._tell(error)
            return b""

    def change(self, make: Callable[[bytes], bytes]) -> None:
        """Replace the content by what `make` makes of it, unless another process keeps the lock."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._hold_lock() as is_locked:
                if is_locked:
                    self._replace(make(self._read_content()))
        except OSError as error:
            self._tell(error)

    def _read_content(self) -> bytes:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | _NO_WAIT | _NO_LINK)
        except FileNotFoundError:
            return b""
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            is_own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
            if not stat.S_ISREG(found.st_mode) or not is_own:
                raise OSError(0, "it is no file of this user")
            content = file.read(MAX_BYTES + 1)
        return content if len(content) <= MAX_BYTES else b""

    def _replace(self, content: bytes) -> None:
        new = self._path.with_name(f".{self._path.name}.new")
        new.unlink(missing_ok=True)  # of a process that ended here
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
        new.replace(self._path)

    @contextlib.contextmanager
    def _hold_lock(self) -> Generator[bool]:
        """Hold the lock of the file, unless another process has it for too long."""
        place = self._path.with_name(f".{self._path.name}.lock")
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | _NO_WAIT | _NO_LINK, 0o600)
        try:
            end = time.monotonic() + LOCK_SECONDS
            while not (is_locked := lock(descriptor)) and time.monotonic() < end:
                time.sleep(_TRY_SECONDS)
            yield is_locked
        finally:
            os.close(descriptor)

    def _tell(self, error: OSError) -> None:
        if not self._is_told:
            self._is_told = True
            reason = error.strerror or str(error)
            logger.warning("%s: `%s`: %s", self._trouble, self._path, reason)
