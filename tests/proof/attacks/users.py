"""Who runs the agent of a world: root, or an ordinary user."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ORDINARY = 64123
"""The first of a thousand users and groups of no account: others run as none of them."""
READABLE = Path(__file__).with_name("agent.py")


@dataclass(frozen=True)
class User:
    """Who runs the agent, its victim and the commands."""

    name: str
    uid: int
    gid: int
    python: str
    """An interpreter that this user may run."""

    @property
    def switch(self) -> dict[str, object]:
        """Arguments of `subprocess` that become this user."""
        if os.geteuid() == self.uid:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def find_user(name: str) -> User | None:
    """Return root or an ordinary user, or none if this process cannot become it."""
    if name == "root":
        return User(name, 0, 0, sys.executable) if os.geteuid() == 0 else None
    if os.geteuid() != 0:
        return User(name, os.geteuid(), os.getegid(), sys.executable)
    number = ORDINARY + os.getpid() % 1000
    for python in (sys.executable, "/usr/bin/python3"):
        user = User(name, number, number, python)
        program = "import sys; open(sys.argv[1]); assert sys.version_info >= (3, 11)"
        command = (python, "-c", program, str(READABLE))
        try:
            tried = subprocess.run(command, check=False, capture_output=True, **user.switch)  # type: ignore[call-overload]
        except OSError:
            continue
        if tried.returncode == 0:
            return user
    return None
