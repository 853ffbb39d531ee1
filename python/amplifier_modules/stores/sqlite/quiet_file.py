"""A file that nobody writes to, read as a whole: much faster than to have SQLite open it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from amplifier_core import world

_MAX_BYTES = 512 * 1024
"""To read more takes longer than to open the file."""
_QUIET_SECONDS = 2.0
"""Older than what clocks of files round to: a write that comes meanwhile changes the time."""
_MODE = slice(18, 20)
_WAL, _NO_WAL = b"\2\2", b"\1\1"
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_JOURNAL_START = 8
"""Bytes that are zero, or missing, in a journal that is used up."""


def read_quiet_file(path: Path) -> bytearray | None:
    """Return the content of a file for `deserialize`; None where SQLite has to open it.

    That is where a journal may belong to it, or somebody may write to it.
    """
    if not hasattr(sqlite3.Connection, "deserialize"):
        return None
    try:
        file = os.open(path, _READ)
    except OSError:
        return None
    try:
        before = os.fstat(file)
        if before.st_size > _MAX_BYTES or world.time() - before.st_mtime < _QUIET_SECONDS:
            return None
        content = bytearray(os.read(file, before.st_size))
        after = os.fstat(file)
    except OSError:
        return None
    finally:
        os.close(file)
    is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if not is_same or len(content) != before.st_size or has_journal(path):
        return None
    if bytes(content[_MODE]) == _WAL:
        # There is no log, so nothing is missing; in memory there is no such mode.
        content[_MODE] = _NO_WAL
    return content


def has_journal(path: Path) -> bool:
    """Whether a log or a journal may belong to a file, without which it is not whole."""
    if os.path.lexists(f"{path}-wal"):
        return True
    try:
        journal = os.open(f"{path}-journal", _READ)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return any(os.read(journal, _JOURNAL_START))
    except OSError:
        return True
    finally:
        os.close(journal)
