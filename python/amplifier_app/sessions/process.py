"""Whether a process of this machine has a stored session open."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_core import world

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store

_SECONDS_A_LOOK = 1.0
_STOPPED, _ENDED = "Tt", "ZX"
"""States of a process as Linux names them; one that has ended stays until its parent takes note."""


class SessionHolder:
    """The process that has a session open, for those who ask again and again.

    It is looked for once a second, as a store lists all of its sessions for that.

    Args:
        store: Where the session is stored.
        session_id: The session.
    """

    def __init__(self, store: Store, session_id: str) -> None:
        self._store = store
        self._id = session_id
        self._process: int | None = None
        self._look_at = 0.0

    async def find(self) -> int | None:
        """Return the process; None if none has it open, or there is no such session.

        Raises:
            StoreError: The store cannot be read.
        """
        if world.monotonic() >= self._look_at:
            infos = await self._store.sessions()
            info = next((each for each in infos if each.id == self._id), None)
            self._process = None if info is None else find_process(info)
            self._look_at = world.monotonic() + _SECONDS_A_LOOK
        return self._process


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
    if _is_in_state(int(process), _ENDED):
        return None
    from amplifier_modules.stores.mounting import find_start

    # Another process may have the number of one that has ended.
    return int(process) if not start or find_start(int(process)) in (start, None) else None


def describe_stopped(process: int, session: str) -> str:
    """Return the line about a process that does nothing as it is stopped; empty if it is not.

    Args:
        process: The process, which has the session open.
        session: What `--resume` names the session by.
    """
    if not _is_in_state(process, _STOPPED):
        return ""
    take = f"`amplifier-core --resume {session} --take-over` goes on here"
    return f"process {process} is stopped: `kill -CONT {process}` lets it go on, {take}"


def _is_in_state(process: int, letters: str) -> bool:
    """Whether a process is in one of these states; it is not where that is not known, as on macOS."""
    try:
        facts = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    # The name of the program, in parentheses, may have spaces in it.
    return facts.rpartition(b")")[2].split()[0].decode() in letters
