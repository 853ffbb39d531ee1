"""Opens the changes of a session, however they are kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from .change import Change
from .recorded_change import RecordedChange
from .tracked import TrackedTree
from .tracked_change import TrackedChange


class ChangeOpener:
    """Opens what is noted in one folder."""

    def __init__(self, notes: Path) -> None:
        """Open the changes of a session.

        Args:
            notes: The folder of its notes.
        """
        self._notes = notes
        self._trees: dict[str, TrackedTree] = {}

    def open(
        self, recorded: RecordedChange, known: Iterable[RecordedChange] = ()
    ) -> Change | TrackedChange:
        """Return a change that was made.

        Args:
            recorded: What is noted of it.
            known: The changes of the session, of which those that were made later count.

        Raises:
            ChangeError: It is not there.
        """
        if recorded.trees is None:
            later = [
                each.folder
                for each in known
                if each.number > recorded.number and each.level == "exact"
            ]
            return Change(recorded.project, recorded.folder, later)
        return TrackedChange(self.open_tree(recorded.project), recorded, recorded.trees)

    def open_tree(self, project: str) -> TrackedTree:
        """Return the states of a project; opened once, as it remembers what it has read."""
        digest = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
        folder = self._notes / f"tracked-{digest}"
        if project not in self._trees or not folder.is_dir():
            self._trees[project] = TrackedTree(project, str(folder))
        return self._trees[project]

    def find_ignored(self, project: str, paths: Sequence[str]) -> Collection[str]:
        """Return those of some paths of a project that git ignores.

        Raises:
            ChangeError: Git is not installed, or fails.
        """
        return self.open_tree(project).find_ignored(paths)
