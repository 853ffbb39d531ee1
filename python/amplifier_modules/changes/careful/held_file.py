"""Files of a layer that somebody can still write, after the command has ended."""

from __future__ import annotations

import os


def is_held(path: str) -> bool:
    """Whether something has a file open to write, by which it could change once it was judged.

    A command can pass an open file on to another one that runs longer. No more can be opened: none
    sees the layer.
    """
    import fcntl

    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # nothing is there, or what cannot be read, which asks anyway
        return False
    try:
        # Granted only if nobody has it open to write; it ends with the file.
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError:  # also where the file system cannot say so
        return True
    finally:
        os.close(file)
    return False
