"""The parts of a command's changes that a person can agree to alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from amplifier_modules.changes.careful import CarefulChange
from amplifier_modules.changes.change import ChangedPath

_MAX_ALONE = 20
"""Paths of one reason that are asked about one by one."""
OF_GIT = ".git"
"""The part that all is put into which git keeps for itself."""


@dataclass(frozen=True)
class Part:
    """Paths that get into the project together, or not at all."""

    name: str
    """A path, for all that is beneath it."""
    paths: tuple[str, ...]
    reason: str = ""
    """Why a person is asked in any mode; empty for what is only shown."""


def list_parts(
    careful: Sequence[CarefulChange], paths: Mapping[str, ChangedPath], *, is_review: bool
) -> list[Part]:
    """Return what a person is asked about.

    Args:
        careful: What is asked about in any mode.
        paths: All that has changed.
        is_review: Whether the rest is asked about, too.
    """
    parts = list(_list_careful(careful))
    if is_review:
        asked = {path for part in parts for path in part.paths}
        parts += _group_paths([path for path in paths if path not in asked], paths)
    return parts


def _list_careful(careful: Sequence[CarefulChange]) -> Iterator[Part]:
    for change in careful:
        if len(change.paths) > _MAX_ALONE:
            yield Part(f"{len(change.paths):,} files", change.paths, change.reason)
        else:
            yield from (Part(path, (path,), change.reason) for path in change.paths)


def _group_paths(names: Sequence[str], paths: Mapping[str, ChangedPath]) -> list[Part]:
    """Put what is in a folder that was made or deleted together, and what is in `.git`."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(_find_root(name, paths), []).append(name)
    return [Part(root or ".", tuple(group)) for root, group in groups.items()]


def _find_root(name: str, paths: Mapping[str, ChangedPath]) -> str:
    words = name.split("/")
    if words[0] == OF_GIT:
        return OF_GIT
    above = ("/".join(words[:count]) for count in range(1, len(words)))
    return next((each for each in above if _is_whole(paths.get(each))), name)


def _is_whole(path: ChangedPath | None) -> bool:
    return path is not None and path.type == "folder" and path.kind != "modified"
