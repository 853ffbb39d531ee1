"""A session whose turns change a project, and processes that are killed while they do."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from amplifier_modules.changes.change import find_changes_support
from amplifier_modules.changes.open_change import Call, OpenChange
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.undone import Undone

Files = dict[str, str]


class Place:
    """A project, and the state folder of its user."""

    def __init__(self, folder: Path) -> None:
        """Make them."""
        self.project = folder / "project"
        self.state = folder / "state"
        self.project.mkdir()

    def open(self, name: str = "one", *, is_stored: bool = True) -> SessionChanges:
        """Return the changes of a session."""
        return SessionChanges(self.state, name, lambda: 1 if is_stored else None)

    def begin(self, changes: SessionChanges) -> OpenChange:
        """Begin a change by a command."""
        change = changes.begin(str(self.project), Call("bash"))
        assert change is not None
        return change

    def run(self, changes: SessionChanges, files: Mapping[str, str | bytes]) -> None:
        """Have a turn whose command writes these files."""
        changes.begin_turn()
        change = self.begin(changes)
        for name, content in files.items():
            path = Path(change.layer[0], name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        change.commit()
        changes.end_turn()

    def write(self, changes: SessionChanges, name: str, content: str) -> None:
        """Have a turn in which a file tool writes a file."""
        changes.begin_turn()
        change = self.begin(changes)
        change.record_before({name: content.encode()})
        (self.project / name).write_text(content)
        change.record_after()
        changes.end_turn()

    def read(self) -> Files:
        """Return the files of the project."""
        files = (each for each in self.project.rglob("*") if each.is_file())
        return {str(each.relative_to(self.project)): each.read_text() for each in sorted(files)}

    def list_state(self) -> list[str]:
        """Return what lies in the folders of all sessions, but no locks."""
        found = (each.relative_to(self.state) for each in self.state.glob("*/*"))
        return sorted(str(each) for each in found if each.name not in ("lock", "sizes.json"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project whose changes can be kept."""
    if not find_changes_support():
        pytest.skip("changes can be kept only on Linux, with the extension")
    return Place(tmp_path)


def undo(changes: SessionChanges) -> Undone:
    """Take the last turn back."""
    return changes.undo(changes.list_last_turn())


def redo(changes: SessionChanges) -> Undone:
    """Make the turn again that was taken back last."""
    return changes.redo(changes.list_undone_turn())


def list_undone(undone: Undone) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Return the paths, the conflicts and what is missing."""
    conflicts = [each.path for each in undone.conflicts]
    return [each.path for each in undone.paths], conflicts, undone.missing


def kill() -> NoReturn:
    """End this process at once, as nobody can hinder."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def fork(work: Callable[[], object]) -> int:
    """Do something in a process of its own, and return its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        process = os.fork()
    if process == 0:
        failed = 1
        try:
            work()
            failed = 0
        finally:
            if failed:
                traceback.print_exc(file=sys.__stderr__)
            os._exit(failed)
    return process


def wait_for(process: int) -> int:
    """Return the exit code of a process when it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def run_in_fork(work: Callable[[], object]) -> int:
    """Do something in a process of its own, and return its exit code."""
    return wait_for(fork(work))
