"""The SQLite file of a budget, opened.

The journal is one for rolling back: of a process that is killed, either the whole transaction stays
or nothing. `synchronous` is `OFF`: waiting for the disk twice a call would take longer than all else,
and only a crash of the whole machine can harm the file, which is then an error of the next call, not a
budget that begins anew.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Lock

from .errors import ArcLLMBudgetFileError

_VERSION = 1
"""Of the tables, kept as `user_version`."""
_TABLES = """
CREATE TABLE spent (
    scope TEXT NOT NULL, period TEXT NOT NULL, micros INTEGER NOT NULL,
    warned INTEGER NOT NULL DEFAULT -1, -- the limit of which somebody was warned
    PRIMARY KEY (scope, period)
) WITHOUT ROWID;
CREATE TABLE reserved (
    id INTEGER PRIMARY KEY, agent TEXT, provider TEXT NOT NULL,
    day TEXT NOT NULL, month TEXT NOT NULL, micros INTEGER NOT NULL, expires REAL NOT NULL
);
"""

_creating = Lock()
"""A file that is closed loses all locks that its process has on it: nobody may use a new file before
its creator has closed it, and an old one is not opened but by SQLite."""


def open_file(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """Open the file; it is made if it is not there, readable only by the user.

    Args:
        path: The file.
        busy_seconds: How long to wait for other processes.

    Returns:
        A connection for any thread, without transactions of its own.

    Raises:
        ArcLLMBudgetFileError: It has tables of another version, or is a link to nothing.
        OSError, sqlite3.Error: It cannot be opened.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _creating, suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    if path.is_symlink() and not path.exists():
        why = f"it is a link to `{path.readlink()}`, which does not exist"
        raise ArcLLMBudgetFileError(f"cannot use the budget file `{path}`: {why}")
    # SQLite may not create a file: that would be one that others can read.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA journal_mode = PERSIST").fetchone()
        connection.execute("PRAGMA synchronous = OFF")
        _make_tables(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection, path: Path) -> None:
    if _read_version(connection) == _VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _read_version(connection)  # another process may have been faster
        if version not in (0, _VERSION):
            why = f"it has version {version} of the tables, this program knows {_VERSION}"
            raise ArcLLMBudgetFileError(f"cannot use the budget file `{path}`: {why}")
        if version == 0:
            for statement in _TABLES.split(";")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _read_version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]
