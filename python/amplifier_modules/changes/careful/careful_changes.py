"""Which changes of a command a person must agree to, and why."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from amplifier_modules.changes.change import ChangedPath

from .databases import find_used_databases
from .folded_name import find_too_deep, fold_names
from .git_files import LOSES_REPOSITORY, is_in_git_folder, judge_git_file
from .inherited import list_parents
from .repositories import Repositories
from .unasked_names import find_reader, is_installed

MAX_DELETED = 200
"""More files than these are not deleted without a person."""
_MAX_WALKED = 10_000

IS_DEEP = "it lies deeper than other programs, and we, look"


@dataclass(frozen=True)
class CarefulChange:
    """Something that a person must agree to."""

    paths: tuple[str, ...]
    """From the project, sorted; each with all that is beneath it."""
    reason: str
    """Why, as a clause about these paths."""


def find_careful_changes(
    changes: Sequence[ChangedPath],
    find_ignored: Callable[[Sequence[str]], Collection[str]] = lambda _: (),
    project: str | None = None,
) -> list[CarefulChange]:
    """Return what a person must agree to; nothing if the changes may be made at once.

    It reads both versions of files, and nothing else. What installs and builds write (`.venv`,
    `node_modules`, the rest of `.git`) asks nobody.

    Args:
        changes: All changes of a command, before they are made.
        find_ignored: Returns which of some paths git ignores; called if many files are deleted.
        project: The folder that they change, as it is before; without it, less is known.
    """
    files = list(_list_files(changes))
    repositories = Repositories(project)
    reasons: dict[str, dict[str, None]] = {}
    for change in files:
        if (deep := find_too_deep(change.path)) is not None:
            reasons.setdefault(IS_DEEP, {})[deep] = None
        elif reason := _judge(change, repositories):
            # Without a part of it, the rest would be of no use.
            path = posixpath.dirname(change.path) if reason == LOSES_REPOSITORY else change.path
            reasons.setdefault(reason, {})[path] = None
    for path, journal in find_used_databases({each.path: each for each in files}):
        name = journal.rpartition("/")[2]
        reason = f"the database may be in use, as `{name}` is beside it: a change could damage it"
        reasons.setdefault(reason, {})[path] = None
    found = [CarefulChange(tuple(sorted(paths)), reason) for reason, paths in reasons.items()]
    if deleted := _find_deleted(files, find_ignored):
        reason = f"{len(deleted)} files that git does not ignore would be deleted"
        found.append(CarefulChange(tuple(deleted), reason))
    return sorted(found, key=lambda each: (each.paths, each.reason))


def _judge(change: ChangedPath, repositories: Repositories) -> str | None:
    names = fold_names(change.path)
    if is_in_git_folder(names):
        return judge_git_file(change, repositories)
    if change.is_plain_folder or is_installed(names):
        return None
    return find_reader(names) or judge_git_file(change, repositories)


def _find_deleted(
    files: Sequence[ChangedPath], find_ignored: Callable[[Sequence[str]], Collection[str]]
) -> list[str]:
    """Return the deleted files that git does not ignore, if there are too many of them."""
    deleted = [each.path for each in files if each.kind == "deleted" and each.type != "folder"]
    deleted = [path for path in deleted if not _is_made_again(path)]
    if len(deleted) <= MAX_DELETED:
        return []
    ignored = frozenset(find_ignored(deleted))
    left = sorted(path for path in deleted if path not in ignored)
    return left if len(left) > MAX_DELETED else []


def _is_made_again(path: str) -> bool:
    names = fold_names(path)
    return is_in_git_folder(names) or is_installed(names)


def _list_files(changes: Sequence[ChangedPath]) -> Iterator[ChangedPath]:
    """Yield all changes, and what is in folders of which only the folder is listed."""
    listed = _find_parents(each.path for each in changes)
    for change in changes:
        yield change
        if change.type == "folder" and change.kind != "modified" and change.path not in listed:
            yield from _walk_folder(change)


def _walk_folder(folder: ChangedPath) -> Iterator[ChangedPath]:
    is_new = folder.kind == "created"
    top = folder.after if is_new else folder.before
    count = 0
    for place, folders, files in os.walk(top or ""):
        links = [each for each in folders if os.path.islink(os.path.join(place, each))]
        for name in (*files, *links):
            full = os.path.join(place, name)
            path = os.path.join(folder.path, os.path.relpath(full, top))
            version = {"before": None if is_new else full, "after": full if is_new else None}
            kind = "link" if os.path.islink(full) else "file"
            yield replace(folder, path=path, type=kind, size=0, **version)
            count += 1
        if count > _MAX_WALKED:
            return


def _find_parents(paths: Iterable[str]) -> set[str]:
    """Return all folders that paths are in."""
    found: set[str] = set()
    for path in paths:
        for parent in list_parents(path):
            if parent in found:
                break
            found.add(parent)
    return found
