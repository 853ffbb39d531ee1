"""The hunks of the files that a command changed, and a file of a layer with some of them alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence

from amplifier_modules.changes.careful.plain_file import read_beginning
from amplifier_modules.changes.change import ChangedPath

from .file_hunks import MAX_HUNK_BYTES, FileHunks, find_file_hunks, limit_hunks
from .parts import Part

_MAX_NAMES = 200
"""Names of parts and hunks in one question."""


class HunkError(OSError):
    """A file of which some hunks cannot be taken."""


def find_part_hunks(
    parts: Sequence[Part], paths: Mapping[str, ChangedPath]
) -> dict[str, FileHunks]:
    """Return the files whose hunks can be taken one by one, by the names of their parts; blocks.

    A file with another mode is taken whole or not at all, as is one that a person is asked about
    in any mode, and one with several names.
    """
    return limit_hunks(_find_hunks(parts, paths), [part.name for part in parts], _MAX_NAMES)


def _find_hunks(parts: Sequence[Part], paths: Mapping[str, ChangedPath]) -> Iterator[FileHunks]:
    for part in parts:
        path = paths.get(part.name)
        if path is None or part.reason or part.paths != (part.name,):
            continue
        try:
            found = find_file_hunks(part.name, *_read_versions(path))
        except OSError:
            continue  # it is shown as one that cannot be read
        if found is not None:
            yield found


def is_shown(path: ChangedPath | None, hunks: FileHunks) -> bool:
    """Whether both versions of a file are those whose hunks were shown; blocks.

    Raises:
        OSError: They cannot be read.
    """
    if path is None:
        return False
    return _read_versions(path) == (hunks.before, hunks.after)


def merge_hunks(path: ChangedPath | None, hunks: FileHunks, agreed: Collection[str]) -> None:
    """Have the version of a change hold the hunks that are agreed to, and no other; blocks.

    Raises:
        HunkError: One of both versions is not that which was shown.
        OSError: It cannot be read or written.
    """
    if path is None or path.after is None or not is_shown(path, hunks):
        raise HunkError("somebody has changed it since it was shown")
    merged = hunks.apply_taken(agreed)
    opened = os.open(path.after, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(opened, "wb") as file:
        file.write(merged)
        file.truncate()


def _read_versions(path: ChangedPath) -> tuple[bytes | None, bytes | None]:
    """Return what a file held and holds; None for what is not taken hunk by hunk."""
    if path.kind != "modified" or path.type != "file" or path.before is None or path.after is None:
        return None, None
    before, after = os.lstat(path.before), os.lstat(path.after)
    is_regular = stat.S_ISREG(before.st_mode) and stat.S_ISREG(after.st_mode)
    # The version of the change is written over: no other name may have it, too.
    if not is_regular or before.st_mode != after.st_mode or after.st_nlink > 1:
        return None, None
    return read_beginning(path.before, MAX_HUNK_BYTES + 1), read_beginning(
        path.after, MAX_HUNK_BYTES + 1
    )
