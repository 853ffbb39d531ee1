"""SQLite databases that somebody may have open while a command changes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from amplifier_modules.changes.change import ChangedPath

_HEAD = b"SQLite format 3\0"
_SUFFIXES = ("-wal", "-journal")


def find_used_databases(changes: Mapping[str, ChangedPath]) -> Iterator[tuple[str, str]]:
    """Yield databases from before that have a log or a journal beside them, and the path of that.

    Args:
        changes: All changes by their paths.
    """
    bases = (path.removesuffix(suffix) for path in changes for suffix in _SUFFIXES)
    for path in sorted({*changes, *bases}):
        for suffix in _SUFFIXES:
            if _is_used(path, suffix, changes):
                yield path, path + suffix
                break


def _is_used(path: str, suffix: str, changes: Mapping[str, ChangedPath]) -> bool:
    database, journal = changes.get(path), changes.get(path + suffix)
    if database is None:
        places = (journal.before, journal.after) if journal else ()
        return any(_is_database(each.removesuffix(suffix)) for each in places if each)
    if database.before is None or database.type != "file":
        return False  # nobody has it open yet
    has_journal = journal is not None or os.path.lexists(database.before + suffix)
    versions = (database.before, database.after)
    return has_journal and any(_is_database(each) for each in versions if each)


def _is_database(path: str) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.read(file, len(_HEAD)) == _HEAD
    except OSError:
        return False
    finally:
        os.close(file)
