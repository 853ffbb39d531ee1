"""The rows of events in a file: written with a checksum, and checked when they are read."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from zlib import crc32

from ..errors import DamagedSessionError
from ..json_text import BLOB, read_json
from ..store import StoredEvent
from .schema import MAX_SEQ, SEQ_BITS

BLOB_BYTES = 64 * 1024
"""A body longer than this is stored once, by its hash."""

_BLOB_START = f'{{"{BLOB}":"'
_BLOB_END = '"}'

Row = tuple[str, str]
"""A kind, and the text of a body."""


def compute_checksum(session_id: str, number: int, epoch: int, kind: str, body: str) -> int:
    """Return the checksum of a row: of what it says, and of where it belongs."""
    return crc32(f"{session_id}\0{number}\0{epoch}\0{kind}\0{body}".encode())


def insert_events(
    connection: sqlite3.Connection, session_id: str, epoch: int, head: int, rows: Iterable[Row]
) -> int:
    """Insert events behind the number `head`; return that of the last."""
    start = find_place(connection, session_id, 0)
    stored: list[tuple[int, int, str, str, int]] = []
    for kind, text in rows:
        head += 1
        body = _put_aside(connection, text) if _is_long(text) else text
        crc = compute_checksum(session_id, head, epoch, kind, body)
        stored.append((start + head, epoch, kind, body, crc))
    connection.executemany(
        "INSERT INTO event (place, epoch, kind, body, crc) VALUES (?, ?, ?, ?, ?)", stored
    )
    return head


def read_events(
    connection: sqlite3.Connection, session_id: str, start: int, end: int
) -> Iterator[StoredEvent]:
    """Yield the events that a session has itself, from the number `start` to `end`.

    Raises:
        DamagedSessionError: One is missing, or is not what was written.
    """
    number, last_epoch = start, 0
    places = (find_place(connection, session_id, start), find_place(connection, session_id, end))
    rows = connection.execute(
        "SELECT seq, epoch, kind, body, crc FROM event WHERE place BETWEEN ? AND ? ORDER BY place",
        places,
    )
    for found, epoch, kind, body, crc in rows:
        if found != number:
            break
        if compute_checksum(session_id, number, epoch, kind, body) != crc or epoch < last_epoch:
            raise DamagedSessionError(session_id, number, "its checksum does not match")
        if body.startswith(_BLOB_START):
            body = _read_blob(connection, session_id, number, body)
        yield StoredEvent(number, epoch, kind, read_json(body))
        number, last_epoch = number + 1, epoch
    if number <= end:
        raise DamagedSessionError(session_id, number, "the event is missing")


def find_place(connection: sqlite3.Connection, session_id: str, number: int) -> int:
    """Return the place of an event of a session, which is stored."""
    row = connection.execute("SELECT number FROM session WHERE id = ?", (session_id,)).fetchone()
    return (row[0] << SEQ_BITS) + number


def find_last_number(connection: sqlite3.Connection, session_id: str) -> int | None:
    """Return the number of the last event that a session has itself; None without any."""
    first = find_place(connection, session_id, 0)
    (last,) = connection.execute(
        "SELECT max(place) FROM event WHERE place BETWEEN ? AND ?", (first, first + MAX_SEQ)
    ).fetchone()
    return None if last is None else last - first


def remove_unused_blobs(connection: sqlite3.Connection) -> None:
    """Remove the long bodies that no event has."""
    connection.execute(
        "DELETE FROM blob WHERE NOT EXISTS"
        " (SELECT 1 FROM event WHERE event.body = ? || blob.hash || ?)",
        (_BLOB_START, _BLOB_END),
    )


def _is_long(text: str) -> bool:
    # A character has at most four bytes.
    return len(text) * 4 > BLOB_BYTES and len(text.encode()) > BLOB_BYTES


def _put_aside(connection: sqlite3.Connection, text: str) -> str:
    name = hashlib.sha256(text.encode()).hexdigest()
    connection.execute("INSERT OR IGNORE INTO blob VALUES (?, ?)", (name, text))
    return f"{_BLOB_START}{name}{_BLOB_END}"


def _read_blob(connection: sqlite3.Connection, session_id: str, number: int, body: str) -> str:
    name = body[len(_BLOB_START) : -len(_BLOB_END)]
    row = connection.execute("SELECT body FROM blob WHERE hash = ?", (name,)).fetchone()
    if row is None or hashlib.sha256(row[0].encode()).hexdigest() != name:
        problem = "its long body is missing or is not what was written"
        raise DamagedSessionError(session_id, number, problem)
    return row[0]
