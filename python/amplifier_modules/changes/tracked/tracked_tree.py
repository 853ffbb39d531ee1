"""The state of a project before and after a command, as trees in a private git store."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from amplifier_modules.changes.change import ChangedPath, ChangeError, ChangeOutcome, Dropped

from .entry import Entry
from .ignore_rules import find_index, find_work_tree, read_excludes
from .left_out import LeftOut, LeftOutFinder
from .path_descriptions import PathDescriptions, Place
from .private_git import GitTimeoutError, PrivateGit
from .restoring import Restoring, TreeChange
from .versions import Versions

_MAX_NESTING = 30
"""Repositories within repositories that are looked into."""
_MARK = b".amplifier-nested.tmp"
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_LINK_MODE = "120000"
_PROGRAM_MODE = "100755"


@dataclass(frozen=True)
class _Tree:
    """A state: what git holds of it, and what is left out of that."""

    id: str
    left_out: LeftOut


class TrackedTree:
    """Takes states of a project, compares them, and puts an earlier one back.

    It covers what git covers: regular files that git does not ignore, links, and whether a file may
    be executed; those of nested repositories and submodules too. It does not cover `.git` itself,
    empty folders, other modes, owners, times, and extended attributes. Files that may hold secrets,
    files of more than 50 MiB, and what cannot be read are left out: a state knows their names and
    whether they have changed, and `restore` says so.

    Git runs on a store of our own: nothing that the project configures is run or read, except for
    the rules of what it ignores (`.gitignore`, and `info/exclude` of the project's repository, not
    that of a nested one).

    Its methods block. Threads and processes take turns.
    """

    def __init__(self, project: str, folder: str) -> None:
        """Open or make the store of a project.

        Args:
            project: An absolute path.
            folder: Where the states are kept; outside of the project, on any mount.

        Raises:
            ChangeError: Git is not installed, the store is of another project, or lies in it.
        """
        self._project = os.path.realpath(project)
        self._folder = os.path.realpath(folder)
        if os.path.commonpath([self._project, self._folder]) == self._project:
            raise ChangeError(f"the store `{folder}` must not lie in the project")
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._work_tree = self._choose_work_tree()
        self._git = PrivateGit(f"{self._folder}/git", self._work_tree, self._project)
        prefix = os.path.relpath(self._project, self._work_tree)
        self._prefix = b"" if prefix == "." else os.fsencode(prefix) + b"/"
        self._versions = Versions(f"{self._folder}/versions", self._git)
        self._described = PathDescriptions(self._project, self._versions)
        self._finder = LeftOutFinder(self._project)
        self._latest: str | None = None
        self._forced: tuple[object, list[bytes]] = (None, [])

    def take(self) -> str:
        """Keep the state of the project as it is now, and return the id of it.

        Files that are as they were in the last state are not read again.

        Raises:
            ChangeError: Git fails, for example as a file vanished while it was read.
        """
        with self._lock():
            try:
                self._latest = self._take()
            except GitTimeoutError:
                raise
            except ChangeError:
                # Once more: something may have changed while it was read.
                self._git.clear_lock()
                self._latest = self._take()
            return self._latest

    def compare(self, before: str, after: str) -> list[ChangedPath]:
        """Return what differs between two states, sorted by path.

        Of files that are left out the versions are None, except for one that is in the project. A
        version of the latest state is the file in the project, for as long as nobody changes it.

        Raises:
            ChangeError: A state is not known.
        """
        with self._lock():
            old, new = self._read_tree(before), self._read_tree(after)
            is_latest = after == self._latest
            changes = self._list_changes(old, new)
            described = self._described
            paths = described.describe(changes, new_place="project" if is_latest else "store")
            paths = described.correct_left_out(
                paths, old.left_out, new.left_out, in_project=is_latest
            )
            known = {each.path for each in paths}
            hidden = old.left_out.find_changed(new.left_out)
            paths += [
                described.describe_left_out(path, old.left_out, new.left_out, in_project=is_latest)
                for path, _ in hidden
                if path not in known
            ]
            return sorted(paths, key=lambda each: each.path)

    def restore(self, before: str, after: str, *, preview: bool = False) -> ChangeOutcome:
        """Put the state `before` back where the project is still as in `after`.

        A path that was changed since is a conflict: it stays, and the other version is written into
        the folder `kept` of the store. What is as in `before` already counts as done, so that after
        a crash the same call finishes the work. Folders that a deletion leaves empty are removed,
        folders that are missing are made. To redo is to restore the other way round.

        Args:
            before: The state to put back.
            after: The state that the project had since.
            preview: Whether to change nothing, and return what would be done.

        Raises:
            ChangeError: A state is not known, or the store has lost a version; nothing is changed.
        """
        with self._lock():
            current, wanted = self._read_tree(after), self._read_tree(before)
            changes = self._list_changes(current, wanted)
            if not preview:
                self._versions.retrieve(each.new for each in changes)
            kept = f"{self._folder}/kept/{before[:12]}-{after[:12]}"
            restoring = Restoring(self._project, self._versions, kept, preview=preview)
            done = restoring.restore(changes, wanted.left_out, current.left_out)
            known = {each.path for each in restoring.conflicts} | {each.path for each in changes}
            dropped = restoring.dropped + [
                Dropped(path, reason)
                for path, reason in wanted.left_out.find_changed(current.left_out)
                if path not in known
            ]
            places: tuple[Place, Place] = ("project", "store") if preview else ("store", "project")
            paths = self._described.describe(done, *places)
            return ChangeOutcome(paths, restoring.conflicts, dropped)

    def find_ignored(self, paths: Sequence[str]) -> set[str]:
        """Return those of some paths that git ignores, whether they exist or not."""
        with self._lock():
            self._git.write_excludes(read_excludes(self._work_tree))
            return set(map(os.fsdecode, self._git.find_ignored([*map(os.fsencode, paths)])))

    def _choose_work_tree(self) -> str:
        """Return the folder that the paths of all states count from: the one that was chosen first.

        Raises:
            ChangeError: The store is of another project.
        """
        note = Path(self._folder, "project.json")
        if note.exists():
            project, work_tree = json.loads(note.read_bytes())
            if project != self._project:
                raise ChangeError(f"the store `{self._folder}` is of another project, `{project}`")
            return work_tree
        work_tree = find_work_tree(self._project)
        if work_tree != self._project:
            git = PrivateGit(f"{self._folder}/git", work_tree, self._project)
            git.write_excludes(read_excludes(work_tree))
            if git.find_ignored([os.fsencode(self._project)]):
                # The repository around it has nothing to do with it.
                work_tree = self._project
        with NamedTemporaryFile("w", dir=self._folder, delete=False) as file:
            json.dump([self._project, work_tree], file)
        os.replace(file.name, note)
        return work_tree

    def _take(self) -> str:
        self._git.write_excludes(read_excludes(self._work_tree))
        left_out = self._finder.find_secrets()
        listed = self._list_files()
        for path in self._list_forced():
            listed.setdefault(path, None)
        kept: list[bytes] = []
        refused: list[bytes] = []
        checked: dict[str, bool] = {}
        for path in listed:
            text = os.fsdecode(path)
            is_kept = self._is_reached(text, checked) and self._finder.judge(text, left_out)
            (kept if is_kept else refused).append(path)
        self._git.forget(refused)
        if kept:
            self._git.add(kept)
        tree = self._git.run("write-tree").decode().strip()
        if not left_out.reasons:
            return tree
        note = self._git.run("hash-object", "-w", "--stdin", content=left_out.encode())
        return f"{tree}.{note.decode().strip()}"

    def _list_files(self) -> dict[bytes, None]:
        """Return the paths that are not in the index as they are in the project."""
        options = ("-z", "-t", "--others", "--modified", "--deleted", "--exclude-standard")
        for _ in range(_MAX_NESTING):
            printed = self._git.run("ls-files", *options).split(b"\0")
            listed = [each[2:] for each in printed if each]
            nested = [each for each in listed if each.endswith(b"/")]
            if not nested:
                break
            # Git looks into a nested repository only if the index has something in it.
            rows = [
                b"100644 %s\t%s\0" % (_EMPTY_BLOB, self._prefix + each + _MARK) for each in nested
            ]
            self._git.run("update-index", "-z", "--index-info", content=b"".join(rows))
        else:
            raise ChangeError(f"more than {_MAX_NESTING} repositories lie in each other")
        return dict.fromkeys(listed)

    def _list_forced(self) -> Sequence[bytes]:
        """Return the files that the project's repository tracks although they are ignored."""
        index = find_index(self._work_tree)
        if index is None:
            return ()
        status = os.stat(index)
        key = (status.st_mtime_ns, status.st_size, status.st_ino)
        if key != self._forced[0]:
            options = ("-z", "--cached", "--ignored", "--exclude-standard")
            try:
                listed = self._git.run("ls-files", *options, index=index).split(b"\0")
            except ChangeError:
                # An index of another form, such as a split one, which needs that repository.
                listed = []
            self._forced = (key, [each for each in listed if each])
        return self._forced[1]

    def _is_reached(self, path: str, checked: dict[str, bool]) -> bool:
        """Whether no folder of a path is a link: what is behind one is listed elsewhere."""
        folder = os.path.dirname(path)
        if folder not in checked:
            full = os.path.join(self._project, folder)
            checked[folder] = os.path.realpath(full) == os.path.normpath(full)
        return checked[folder]

    def _read_tree(self, state: str) -> _Tree:
        tree, _, note = state.partition(".")
        if not all(part.isalnum() for part in (tree, note or "0")):
            raise ChangeError(f"`{state}` is no id of a state")
        content = self._git.run("cat-file", "blob", note) if note else LeftOut().encode()
        return _Tree(tree, LeftOut.decode(content))

    def _list_changes(self, old: _Tree, new: _Tree) -> list[TreeChange]:
        options = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev")
        printed = self._git.run("diff-tree", *options, old.id, new.id, "--").split(b"\0")
        return [
            _read_change(head.decode(), os.fsdecode(path.removeprefix(self._prefix)))
            for head, path in zip(printed[::2], printed[1::2], strict=False)
        ]

    @contextmanager
    def _lock(self) -> Generator[None]:
        from fcntl import LOCK_EX, flock

        with open(f"{self._folder}/lock", "wb") as file:
            flock(file, LOCK_EX)
            self._git.clear_lock()
            yield


def _read_change(head: str, path: str) -> TreeChange:
    old_mode, new_mode, old_digest, new_digest, _ = head.removeprefix(":").split(" ")
    return TreeChange(path, _read_entry(old_mode, old_digest), _read_entry(new_mode, new_digest))


def _read_entry(mode: str, digest: str) -> Entry | None:
    if not mode.strip("0"):
        return None
    return Entry(digest, is_link=mode == _LINK_MODE, is_executable=mode == _PROGRAM_MODE)
