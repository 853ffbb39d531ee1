"""Changes between two states as paths, with where each version can be read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from amplifier_modules.changes.change import ChangedPath

from .entry import Entry
from .left_out import LeftOut
from .restoring import TreeChange
from .versions import Versions

Place = Literal["store", "project"]
"""Where a version is read."""


class PathDescriptions:
    """Describes paths of one project."""

    def __init__(self, project: str, versions: Versions) -> None:
        """Describe nothing yet.

        Args:
            project: An absolute path.
            versions: What takes versions out of the store.
        """
        self._project = project
        self._versions = versions

    def describe(
        self, changes: Sequence[TreeChange], old_place: Place = "store", new_place: Place = "store"
    ) -> list[ChangedPath]:
        """Return changes with the paths of their versions, which are there then."""
        if old_place == "store":
            self._versions.retrieve(each.old for each in changes)
        if new_place == "store":
            self._versions.retrieve(each.new for each in changes)
        return [self._describe_change(each, old_place, new_place) for each in changes]

    def correct_left_out(
        self, paths: Sequence[ChangedPath], before: LeftOut, after: LeftOut, *, in_project: bool
    ) -> list[ChangedPath]:
        """Return paths without a deletion or a making of what is only left out of one state."""
        corrected: list[ChangedPath] = []
        for each in paths:
            full = os.path.join(self._project, each.path) if in_project else None
            if each.kind == "deleted" and each.path in after.reasons:
                each = replace(each, kind="modified", after=full)
            elif each.kind == "created" and each.path in before.reasons:
                each = replace(each, kind="modified")
            corrected.append(each)
        return corrected

    def describe_left_out(
        self, path: str, before: LeftOut, after: LeftOut, *, in_project: bool
    ) -> ChangedPath:
        """Return a change of a file that is left out: no version is in the store."""
        old, new = before.signatures.get(path), after.signatures.get(path)
        shown = os.path.join(self._project, path) if in_project and new is not None else None
        kind = _name_kind(has_old=old is not None, has_new=new is not None)
        return ChangedPath(path, kind, "file", None, shown, (new or old or [0])[0])

    def _describe_change(
        self, change: TreeChange, old_place: Place, new_place: Place
    ) -> ChangedPath:
        before = self._find_version(change.path, change.old, old_place)
        after = self._find_version(change.path, change.new, new_place)
        kind = _name_kind(has_old=before is not None, has_new=after is not None)
        entry = change.new or change.old
        type_name = "link" if entry is not None and entry.is_link else "file"
        try:
            size = os.lstat(after or before or "").st_size
        except OSError:
            size = 0
        return ChangedPath(change.path, kind, type_name, before, after, size)

    def _find_version(self, path: str, entry: Entry | None, place: Place) -> str | None:
        if entry is None:
            return None
        if place == "store":
            return self._versions.path_of(entry)
        return os.path.join(self._project, path)


def _name_kind(*, has_old: bool, has_new: bool) -> Literal["created", "modified", "deleted"]:
    if not has_old:
        return "created"
    return "modified" if has_new else "deleted"
