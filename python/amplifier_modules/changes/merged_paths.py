"""What several changes of the same paths come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .change import ChangedPath


class MergedPaths:
    """Keeps for each path how it was before all changes, and how it is after them."""

    def __init__(self) -> None:
        """Begin without a path."""
        self._ends: dict[str, tuple[ChangedPath, ChangedPath]] = {}

    def add_later(self, path: ChangedPath) -> None:
        """Add a change that was made after those that are known."""
        first, _ = self._ends.get(path.path, (path, path))
        self._ends[path.path] = first, path

    def add_earlier(self, path: ChangedPath) -> None:
        """Add a change that was made before those that are known."""
        _, last = self._ends.get(path.path, (path, path))
        self._ends[path.path] = path, last

    def has_at(self, path: str) -> bool:
        """Whether a path is known, or one that is beneath it."""
        return any(each == path or each.startswith(f"{path}/") for each in self._ends)

    def remove(self, path: str) -> None:
        """Forget a path."""
        self._ends.pop(path, None)

    def list(self) -> list[ChangedPath]:
        """Return each path once, sorted; what was made and is gone again is left out."""
        merged = (_join(*self._ends[path]) for path in sorted(self._ends))
        return [each for each in merged if each is not None]


def merge_paths(paths: Iterable[ChangedPath]) -> list[ChangedPath]:
    """Return what changes come to, in the order in which they were made."""
    merged = MergedPaths()
    for path in paths:
        merged.add_later(path)
    return merged.list()


def _join(first: ChangedPath, last: ChangedPath) -> ChangedPath | None:
    is_new, is_gone = first.kind == "created", last.kind == "deleted"
    if is_new and is_gone and first is not last:
        return None
    kind = "deleted" if is_gone else "created" if is_new else "modified"
    return replace(last, kind=kind, before=first.before)
