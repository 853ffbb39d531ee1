"""A lock on an open file, which other processes and other descriptors respect."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

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
