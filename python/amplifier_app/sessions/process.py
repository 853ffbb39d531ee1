"""Whether a process of this machine has a stored session open."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo


def find_process(info: SessionInfo) -> int | None:
    """Return the process of this machine that has a session open, if it still runs.

    On Windows it is not known whether it does.
    """
    host, process, start = [*(info.owner or "").split(":"), "", ""][:3]
    if host != socket.gethostname() or not process.isdecimal() or int(process) == os.getpid():
        return None
    if sys.platform == "win32":
        # There the signal 0 is Ctrl+C, and others would end the process.
        return None
    try:
        os.kill(int(process), 0)
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return None
    from amplifier_modules.stores.mounting import find_start

    # Another process may have the number of one that has ended.
    return int(process) if not start or find_start(int(process)) in (start, None) else None
