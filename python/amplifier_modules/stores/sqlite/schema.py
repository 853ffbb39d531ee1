"""The tables of a file of sessions, and how a connection to it is opened."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from ..errors import DamagedSessionError, NewerStoreError, StoreError
from .quiet_file import has_journal

ResultT = TypeVar("ResultT")

SCHEMA = 1
"""The number of these tables; a file with a higher one is of a newer version."""

SEQ_BITS = 32
MAX_SEQ = 2**SEQ_BITS - 1
"""An event is at the number of its session and, in as many bits, its own: so those of a session lie
together, and no index has to be written with each of them."""

_APPLICATION = 0x616D7063
_WAIT_SECONDS = 10.0
"""How long a process waits for the other that writes to the file."""
_SAFE_WAL = (3, 51, 3)
"""Older versions can corrupt a file in WAL mode that two processes write to."""
_FAILURES = frozenset({errno.EIO, errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
"""What a disk says that has failed; anything else is said where folders cannot be synced at all."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_TABLES = f"""
CREATE TABLE session (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, call TEXT, base TEXT,
    base_seq INTEGER NOT NULL, epoch INTEGER NOT NULL, head INTEGER NOT NULL, owner TEXT, due REAL,
    written REAL NOT NULL, meta TEXT NOT NULL
) STRICT;
CREATE TABLE event (
    place INTEGER PRIMARY KEY,
    session INTEGER AS (place >> {SEQ_BITS}), seq INTEGER AS (place & {MAX_SEQ}),
    epoch INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT;
CREATE TABLE blob (hash TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, kind TEXT NOT NULL,
    body TEXT NOT NULL, done_seq INTEGER, crc INTEGER NOT NULL, due REAL
) STRICT;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA};
"""


def can_use_wal() -> bool:
    """Whether this SQLite is safe in WAL mode with two writers."""
    return sqlite3.sqlite_version_info >= _SAFE_WAL


def create_file(path: Path, fill: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
    """Make a file with its tables and what `fill` puts into them, all of it or nothing.

    Only the user can read it.

    Args:
        path: Its place; its folder is there.
        fill: Fills the tables; what it returns is returned.

    Raises:
        FileExistsError: There is one.
        OSError: It cannot be made.
        sqlite3.Error: It cannot be written.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)  # of a process that ended here
    descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
    try:
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            # Nobody reads it before it is whole and has its name.
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
            filled = fill(connection)
        os.fsync(descriptor)
        os.link(new, path)
    finally:
        os.close(descriptor)
        new.unlink()
    try:
        sync_folder(path.parent)
    except OSError:
        path.unlink()
        raise
    return filled


def open_file(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file to read and write it, or to read it where it or its folder is read-only.

    Raises:
        StoreError: It is no file of sessions, or that of a newer version.
        sqlite3.Error: It cannot be read.
    """
    if not _is_writable(path):
        return _open_to_read(path)
    connection = sqlite3.connect(
        path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        if sys.platform == "darwin":
            connection.execute("PRAGMA fullfsync = ON")
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
        check_schema(connection, path)
        _set_mode(connection, mode)
    except BaseException:
        connection.close()
        raise
    return connection


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Check that this version can read a file.

    Raises:
        StoreError: It cannot.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        if not found and path.stat().st_size == 0:
            raise DamagedSessionError(path.stem, 0, "its file is empty")
        raise StoreError(f"`{path}` is no file of sessions")
    if found > SCHEMA:
        raise NewerStoreError(str(path), found, SCHEMA)


def make_folder(folder: Path) -> None:
    """Make a folder and those that it is in, as far as they are missing, for good.

    Raises:
        OSError: It cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


def sync_folder(folder: Path) -> None:
    """Let the names of a folder outlive a failure of the system, where that can be asked for.

    Raises:
        OSError: The disk has failed, or is full.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in _FAILURES:
            raise


def _is_writable(path: Path) -> bool:
    # The file alone is not enough: SQLite has its journal beside it.
    as_effective = os.access in os.supports_effective_ids
    return all(os.access(each, os.W_OK, effective_ids=as_effective) for each in (path, path.parent))


def _open_to_read(path: Path) -> sqlite3.Connection:
    try:
        return _connect_to_read(path, "mode=ro")
    except sqlite3.OperationalError:
        if has_journal(path):
            raise
    # In WAL mode SQLite wants a log beside the file, which cannot be made. Without one, all is in
    # the file.
    return _connect_to_read(path, "immutable=1")


def _connect_to_read(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        check_schema(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_mode(connection: sqlite3.Connection, mode: str) -> None:
    (found,) = connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()
    if found != mode:
        raise StoreError(f"SQLite keeps its journal in mode `{found}` here (must be `{mode}`)")
