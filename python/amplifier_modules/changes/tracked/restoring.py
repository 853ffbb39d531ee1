"""Puts versions back, path by path, and leaves alone what somebody has changed since."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_modules.changes.change import Conflict, Dropped

from .entry import Entry, Found, ProjectFolder
from .left_out import LeftOut
from .versions import Versions


@dataclass(frozen=True)
class TreeChange:
    """A path that differs between two states."""

    path: str
    old: Entry | None
    new: Entry | None


class Restoring:
    """One restore: what it could not do is in `conflicts` and `dropped`."""

    def __init__(self, project: str, versions: Versions, kept: str, *, preview: bool) -> None:
        """Change nothing yet.

        Args:
            project: An absolute path.
            versions: What has the contents.
            kept: The folder for versions that cannot be put back; made when it is needed.
            preview: Whether to write nothing at all.
        """
        self.conflicts: list[Conflict] = []
        self.dropped: list[Dropped] = []
        self._folder = ProjectFolder(project)
        self._versions = versions
        self._kept = Path(kept)
        self._is_preview = preview

    def restore(
        self, changes: Sequence[TreeChange], wanted: LeftOut, current: LeftOut
    ) -> list[TreeChange]:
        """Make changes, and return those that are made.

        Args:
            changes: From the state that the project had to the one that it is to have.
            wanted: What is left out of the state that it is to have.
            current: What is left out of the state that it had.
        """
        # What is deleted goes first and from within, as a file may come where a folder was.
        deletions = [each for each in reversed(changes) if each.new is None]
        others = [each for each in changes if each.new is not None]
        needed = {folder for each in others for folder in _list_folders(each.path)}
        done: list[TreeChange] = []
        for change in (*deletions, *others):
            if change.path in wanted.reasons:
                self.dropped.append(Dropped(change.path, wanted.reasons[change.path]))
            elif self._put(change, current.reasons.get(change.path)):
                done.append(change)
                if change.new is None and not self._is_preview:
                    self._remove_folders(change.path, needed)
        self.conflicts.sort(key=lambda each: each.path)
        return sorted(done, key=lambda each: each.path)

    def _put(self, change: TreeChange, left_out: str | None) -> bool:
        """Put one version there, and return whether it is there now, or would be."""
        found = self._folder.find(change.path)
        entry = found.entry if found else None
        if (found is None) == (change.new is None) and entry == change.new:
            if not self._is_preview:
                self._folder.remove_leftover(change.path)
            return True
        if not self._is_expected(change, found):
            self._keep(change, left_out or _describe_conflict(change, found))
            return False
        if self._is_preview:
            return True
        content = b"" if change.new is None else self._versions.read(change.new)
        try:
            self._folder.replace(change.path, found, change.new, content)
        except NotADirectoryError:
            self._keep(change, "a folder that it was in is a link or a file now")
            return False
        except OSError as error:
            self._keep(change, error.strerror or str(error))
            return False
        return True

    def _is_expected(self, change: TreeChange, found: Found | None) -> bool:
        if found is None or found.entry is None:
            return found is None and change.old is None
        # A crash may lie between the new content and the new mode.
        is_half_done = (
            change.new is not None
            and change.old is not None
            and not change.old.is_link
            and found.entry
            == Entry(change.new.digest, change.new.is_link, change.old.is_executable)
        )
        return found.entry == change.old or is_half_done

    def _keep(self, change: TreeChange, reason: str) -> None:
        kept = self._kept / change.path
        if change.new is None or self._is_preview:
            self.conflicts.append(Conflict(change.path, None, reason))
            return
        content = self._versions.read(change.new)
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept.unlink(missing_ok=True)
        if change.new.is_link:
            kept.symlink_to(os.fsdecode(content))
        else:
            kept.write_bytes(content)
        self.conflicts.append(Conflict(change.path, str(kept), reason))

    def _remove_folders(self, path: str, needed: set[str]) -> None:
        for folder in _list_folders(path):
            if folder in needed or not self._folder.remove_empty_folder(folder):
                return


def _list_folders(path: str) -> list[str]:
    """Return the folders that a path is in, from within."""
    names = path.split("/")[:-1]
    return ["/".join(names[:count]) for count in range(len(names), 0, -1)]


def _describe_conflict(change: TreeChange, found: Found | None) -> str:
    if found is None:
        return "it has been deleted since"
    if change.old is None:
        return "something else has been made there since"
    return "it has changed since"
