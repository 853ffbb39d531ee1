"""System calls that fail as those on a broken or full disk do, by `strace`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

_SECONDS = 60
"""A run takes less than one."""


class Fault(NamedTuple):
    """Which calls of a thread fail, and how."""

    call: str
    error: str
    number: int
    """The first of them that fails; 1 is the first of all."""
    lasts: bool
    """Whether all that follow fail, too."""


class Outcome(NamedTuple):
    """What a program did."""

    printed: list[str]
    logged: str
    """What it wrote to its standard error."""
    exit_code: int
    has_failed: bool
    """Whether any call failed."""


def list_faults(call: str, error: str, *, lasts: bool) -> Iterator[Fault]:
    """Yield a fault at the first call, at the second, and so on without an end.

    Where all that follow fail, too, or the disk is full, it is every fourth.
    """
    step = 1 if error == "EIO" and not lasts else 4
    return (Fault(call, error, number, lasts) for number in count(1, step))


def run_with(fault: Fault, program: str, folder: Path, mode: str, *files: Path) -> Outcome:
    """Run a program of this folder while calls fail.

    Args:
        fault: Which of them.
        program: Its name.
        folder: Where it has its files.
        mode: How SQLite keeps its journal.
        files: The files and folders on which calls fail; all of them without any.
    """
    trace = folder.with_name("trace")
    when = f"{fault.number}{'+' if fault.lasts else ''}"
    inject = f"--inject={fault.call}:error={fault.error}:when={when}"
    watched = ["strace", "-f", "--seccomp-bpf", f"--output={trace}", f"--trace={fault.call}"]
    watched += [inject, *(f"--trace-path={each}" for each in files)]
    path = Path(__file__).with_name(program)
    command = [*watched, sys.executable, str(path), str(folder), mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    has_failed = "(INJECTED)" in trace.read_text()
    return Outcome(done.stdout.splitlines(), done.stderr, done.returncode, has_failed)


def list_files(folder: Path, session_id: str) -> list[Path]:
    """Return what calls of SQLite are about for a session: its file, and what is beside it."""
    name = f"{session_id}.sessions"
    return [folder, *(folder / f"{name}{end}" for end in ("", "-journal", "-wal", "-shm"))]
