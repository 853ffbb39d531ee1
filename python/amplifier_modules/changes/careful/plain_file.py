"""Regular files, read without following a link, and without waiting for another process."""

from __future__ import annotations

import os
import stat

_MAX_BYTES = 2**20


def read_plain_file(path: str | None) -> bytes | None:
    """Return what a regular file holds; None if it is none, or too large for settings.

    Raises:
        PermissionError: Its mode, or that of a folder above, keeps us out: only now, perhaps.
    """
    if path is None:
        return None
    content = _read(path, _MAX_BYTES + 1)
    return content if content is not None and len(content) <= _MAX_BYTES else None


def read_beginning(path: str, count: int) -> bytes:
    """Return the first bytes of a regular file; nothing if it is none; raises as above."""
    return _read(path, count) or b""


def _read(path: str, count: int) -> bytes | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        raise
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        with os.fdopen(file, "rb", closefd=False) as opened:
            return opened.read(count)
    except OSError:
        return None
    finally:
        os.close(file)
