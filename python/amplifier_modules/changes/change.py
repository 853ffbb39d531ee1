"""One change of a project, kept in a folder of its own until nobody needs to take it back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from amplifier_core.extension import find_change_class

__all__ = [
    "Change",
    "ChangeError",
    "ChangeOutcome",
    "ChangeState",
    "ChangedPath",
    "Conflict",
    "Dropped",
    "find_changes_support",
]

ChangeState = Literal["open", "committed", "undone", "half"]
"""Where a change is; `half` is one that a crash interrupted, which `recover` ends."""


class ChangeError(OSError):
    """A change that could not be read, committed, undone or removed."""


@dataclass(frozen=True)
class ChangedPath:
    """One path that a change makes, modifies or deletes."""

    path: str
    """From the project, as `os.fsdecode` reads it."""
    kind: Literal["created", "modified", "deleted"]
    type: Literal["file", "folder", "link"]
    before: str | None
    """Absolute path where the version from before can be read now; None if there is none."""
    after: str | None
    """Absolute path where the version of the change can be read now; None if there is none."""
    size: int
    """Bytes of the version of the change; of a deleted path, those from before."""

    @property
    def is_plain_folder(self) -> bool:
        """Whether it is a folder, and nothing else was in its place."""
        if self.type != "folder":
            return False
        return self.before is None or (
            os.path.isdir(self.before) and not os.path.islink(self.before)
        )


@dataclass(frozen=True)
class Conflict:
    """A path that somebody else has changed, and that stays as they have it."""

    path: str
    kept: str | None
    """Absolute path of the version that is not in the project; None if there is none."""
    reason: str


@dataclass(frozen=True)
class Dropped:
    """Something that a command made and that is never put into a project."""

    path: str
    reason: str


@dataclass(frozen=True)
class ChangeOutcome:
    """What a commit, an undo or a redo did, or would do."""

    done: list[ChangedPath]
    conflicts: list[Conflict]
    dropped: list[Dropped]


def find_changes_support() -> bool:
    """Return whether changes can be kept here: on Linux, with the extension."""
    return find_change_class() is not None


class Change:
    """One foreground command or one write of a file tool, which can be undone and redone.

    Its methods block, and other threads run meanwhile. Several threads may use one change.
    """

    def __init__(self, project: str, folder: str, later: Sequence[str] = ()) -> None:
        """Open a change that `begin` made.

        Args:
            project: The folder that is changed; an absolute path.
            folder: The folder of the change; on the same mount as the project, and outside of it.
            later: The folders of later changes: what they have kept of files that are no more
                stands for those.

        Raises:
            ChangeError: There is no such change, or changes cannot be kept here.
        """
        found = find_change_class()
        if found is None:
            raise ChangeError("changes can be kept only on Linux, with the extension")
        self._change = found(project, folder, list(later))

    @staticmethod
    def begin(project: str, folder: str) -> Change:
        """Make the folder of a new change, and what is in it."""
        found = find_change_class()
        if found is None:
            raise ChangeError("changes can be kept only on Linux, with the extension")
        found.begin(project, folder)
        return Change(project, folder)

    @property
    def state(self) -> ChangeState:
        """Where the change is."""
        return self._change.state

    @property
    def layer(self) -> str:
        """Absolute path of the upper layer for a mount; later it has the versions from before."""
        return self._change.layer

    @property
    def work(self) -> str:
        """Absolute path of the work folder for a mount."""
        return self._change.work

    def list_paths(self) -> list[ChangedPath]:
        """Return what a commit would do, or what it did, sorted by path."""
        return [ChangedPath(*each) for each in self._change.list_paths()]

    def commit(self, chosen: Sequence[str] | None = None) -> ChangeOutcome:
        """Put what the layer has into the project: `chosen` paths and what they need, or all."""
        return _read_outcome(self._change.commit(None if chosen is None else list(chosen)))

    def undo(self, *, preview: bool = False) -> ChangeOutcome:
        """Put the versions from before into the project, but not over what was changed since."""
        return _read_outcome(self._change.undo(preview=preview))

    def redo(self, *, preview: bool = False) -> ChangeOutcome:
        """Put the versions of the change into the project again, after an undo."""
        return _read_outcome(self._change.redo(preview=preview))

    def recover(self) -> None:
        """Finish or take back what a crash interrupted; do nothing otherwise."""
        self._change.recover()

    def remove(self) -> None:
        """Delete the folder of the change, whatever modes are in it."""
        self._change.remove()

    def record_before(self, paths: Sequence[str], after: Sequence[bytes | None]) -> None:
        """Keep what a file tool is about to write over, and a digest of what it will write.

        Args:
            paths: Files, from the project.
            after: What each of them will contain; None for one that will be removed.
        """
        self._change.record_before(list(paths), list(after))

    def record_after(self) -> ChangeOutcome:
        """Record what the file tool wrote; the change is committed then."""
        return _read_outcome(self._change.record_after())


_PathFields = tuple[
    str,
    Literal["created", "modified", "deleted"],
    Literal["file", "folder", "link"],
    str | None,
    str | None,
    int,
]
_Outcome = tuple[list[_PathFields], list[tuple[str, str | None, str]], list[tuple[str, str]]]


def _read_outcome(outcome: _Outcome) -> ChangeOutcome:
    done, conflicts, dropped = outcome
    return ChangeOutcome(
        [ChangedPath(*each) for each in done],
        [Conflict(*each) for each in conflicts],
        [Dropped(*each) for each in dropped],
    )
