"""The rows of the inbox of a session: what it was sent and has not used yet."""

from __future__ import annotations

import sqlite3

from ..errors import DamagedSessionError, StoreError
from ..json_text import read_json
from ..row_checks import compute_checksum
from ..store import InboxEntry

_NOT_DONE = 0


def put_entry(
    connection: sqlite3.Connection, session_id: str, kind: str, body: str, due: float | None
) -> int:
    """Add an entry, and return its id."""
    id = connection.execute(
        "INSERT INTO inbox (session, kind, body, crc) VALUES (?, ?, ?, 0)", (session_id, kind, body)
    ).lastrowid
    assert id is not None
    crc = compute_checksum(session_id, id, _NOT_DONE, kind, body)
    connection.execute("UPDATE inbox SET crc = ? WHERE id = ?", (crc, id))
    if due is not None:
        if not _has_due(connection):
            connection.execute("ALTER TABLE inbox ADD COLUMN due REAL")
        connection.execute("UPDATE inbox SET due = ? WHERE id = ?", (due, id))
    return id


def find_first_due(connection: sqlite3.Connection, session_id: str) -> float | None:
    """Return when the first of the entries is due that are not done; None if none is."""
    if not _has_due(connection):
        return None
    select = "SELECT min(due) FROM inbox WHERE session = ? AND done_seq IS NULL"
    return connection.execute(select, (session_id,)).fetchone()[0]


def _has_due(connection: sqlite3.Connection) -> bool:
    """Whether entries can be due: a file that an earlier version has made gets the column late.

    Earlier versions go on to read it: they name the columns that they know.
    """
    columns = connection.execute("SELECT name FROM pragma_table_info('inbox')")
    return ("due",) in columns.fetchall()


def list_entries(connection: sqlite3.Connection, session_id: str) -> list[InboxEntry]:
    """Return the entries that are not done.

    Raises:
        DamagedSessionError: An entry is not what was written.
        sqlite3.Error: They cannot be read.
    """
    found: str = connection.execute("PRAGMA quick_check('inbox')").fetchone()[0]
    problem = " ".join(found.split())
    if "error code=" in problem:
        # The disk has failed, which it does not say of the file.
        raise sqlite3.OperationalError(problem)
    if problem != "ok":
        raise DamagedSessionError(session_id, 0, f"its inbox cannot be read: {problem}")
    rows = connection.execute(
        "SELECT id, kind, body, done_seq, crc FROM inbox WHERE session = ? ORDER BY id",
        (session_id,),
    ).fetchall()
    entries: list[InboxEntry] = []
    for id, kind, body, done, crc in rows:
        if compute_checksum(session_id, id, done or _NOT_DONE, kind, body) != crc:
            problem = f"the checksum of entry {id} of its inbox does not match"
            raise DamagedSessionError(session_id, 0, problem)
        if done is None:
            entries.append(InboxEntry(id=id, kind=kind, body=read_json(body)))
    return entries


def note_done(connection: sqlite3.Connection, session_id: str, id: int, number: int) -> None:
    """Note that an entry was used by the events up to a number.

    Raises:
        StoreError: There is no such entry, or it was used before.
    """
    row = connection.execute(
        "SELECT kind, body FROM inbox WHERE id = ? AND session = ? AND done_seq IS NULL",
        (id, session_id),
    ).fetchone()
    if row is None:
        raise StoreError(f"the inbox of session `{session_id}` has no entry {id} to be done")
    crc = compute_checksum(session_id, id, number, *row)
    connection.execute("UPDATE inbox SET done_seq = ?, crc = ? WHERE id = ?", (number, crc, id))
