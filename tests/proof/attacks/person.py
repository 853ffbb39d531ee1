"""A person who works on the project while a command runs, outside of any sandbox.

Prints a line of JSON when it has begun; the first line that it reads ends it, and is answered by what
it wrote last.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

HABIT, PROJECT, ELSEWHERE, TOKEN = sys.argv[1:]
EXCHANGE = 2
CURRENT = -100

libc = ctypes.CDLL(None, use_errno=True)


def exchange(one: Path, other: Path) -> None:
    """Exchange two names at once."""
    libc.renameat2(CURRENT, os.fsencode(one), CURRENT, os.fsencode(other), EXCHANGE)


class Swap:
    """Has a link to a place outside where a file or folder was, and back again."""

    def __init__(self, path: Path, target: str) -> None:
        """Make the link beside it."""
        self._path = path
        self._link = path.with_name(f"attack-link-{path.name}")
        self._link.symlink_to(target)

    def work(self) -> None:
        """Exchange them."""
        exchange(self._path, self._link)

    def end(self) -> str:
        """Leave the file or folder there, and no link."""
        if self._path.is_symlink():
            exchange(self._path, self._link)
        self._link.unlink(missing_ok=True)
        return ""


class Writing:
    """Saves a file anew again and again, as editors do."""

    def __init__(self, path: Path) -> None:
        """Write a file."""
        self._path = path
        self._new = path.with_name("attack-new")
        self._count = 0

    def work(self) -> None:
        """Save it; an editor says so if it cannot."""
        self._new.write_text(f"{TOKEN} {self._count + 1}.\n")
        with suppress(IsADirectoryError):
            self._new.replace(self._path)
            self._count += 1

    def end(self) -> str:
        """Return what was saved last."""
        return f"{TOKEN} {self._count}."


def run(work: Callable[[], None]) -> None:
    """Work until there is something to read."""
    print(json.dumps({}), flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        work()


HABITS: dict[str, Callable[[], Swap | Writing]] = {
    "swaps a folder": lambda: Swap(Path(PROJECT, "swapped"), ELSEWHERE),
    "swaps a file": lambda: Swap(Path(PROJECT, "source.txt"), f"{ELSEWHERE}/inner"),
    "writes a file": lambda: Writing(Path(PROJECT, "source.txt")),
}

habit = HABITS[HABIT]()
run(habit.work)
print(json.dumps({"written": habit.end()}), flush=True)
