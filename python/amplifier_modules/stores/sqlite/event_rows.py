"""The rows of events in a file: written with a checksum, and checked when they are read."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial

from ..errors import DamagedSessionError
from ..json_text import BLOB, read_json
from ..row_checks import compute_checksum
from ..store import StoredEvent
from .schema import MAX_SEQ, SEQ_BITS

BLOB_BYTES = 64 * 1024
"""A body longer than this is stored once, by its hash."""

_BLOB_START = f'{{"{BLOB}":"'
_BLOB_END = '"}'
_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_PART_CHARS = 256 * 1024
"""Characters of a long text that are stored together."""

Row = tuple[str, str]
"""A kind, and the text of a body."""


def insert_events(
    connection: sqlite3.Connection, session_id: str, epoch: int, head: int, rows: Iterable[Row]
) -> int:
    """Insert events behind the number `head`; return that of the last."""
    start = find_place(connection, session_id, 0)
    stored: list[tuple[int, int, str, str, int]] = []
    for kind, text in rows:
        head += 1
        body = text
        if _is_long(text):
            body = f"{_BLOB_START}{_insert_blob(connection, text)}{_BLOB_END}"
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
    found_rows = connection.execute(
        "SELECT seq, epoch, kind, body, crc FROM event WHERE place BETWEEN ? AND ? ORDER BY place",
        places,
    )
    # Closed also where a row is damaged: what is half read locks the file.
    with closing(found_rows) as rows:
        for found, epoch, kind, body, crc in rows:
            if found != number:
                break
            if compute_checksum(session_id, number, epoch, kind, body) != crc or epoch < last_epoch:
                raise DamagedSessionError(session_id, number, "its checksum does not match")
            find = partial(_find_blob, connection, session_id, number)
            if body.startswith(_BLOB_START):
                body = find(body[len(_BLOB_START) : -len(_BLOB_END)])
            yield StoredEvent(number, epoch, kind, read_json(body, find))
            number, last_epoch = number + 1, epoch
    if number <= end:
        raise DamagedSessionError(session_id, number, "the event is missing")


def put_text_aside(connection: sqlite3.Connection, text: str) -> list[str] | None:
    """Store a long text in parts, so that no copy of it is made; return their hashes.

    None for one that has no UTF-8.
    """
    starts = range(0, len(text), _PART_CHARS)
    if not text.isascii():
        try:
            for start in starts:
                text[start : start + _PART_CHARS].encode()
        except UnicodeEncodeError:
            return None
    return [_insert_blob(connection, text[start : start + _PART_CHARS]) for start in starts]


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
    """Remove the long bodies and the parts of long texts that no event has."""
    used: set[str] = set()
    for table in ("event", "blob"):
        rows = connection.execute(f"SELECT body FROM {table} WHERE instr(body, ?)", (f'"{BLOB}"',))
        for (body,) in rows:
            used.update(_HASH.findall(body))
    stored = connection.execute("SELECT hash FROM blob").fetchall()
    unused = [each for each in stored if each[0] not in used]
    connection.executemany("DELETE FROM blob WHERE hash = ?", unused)


def _is_long(text: str) -> bool:
    # A character has at most four bytes.
    return len(text) * 4 > BLOB_BYTES and len(text.encode()) > BLOB_BYTES


def _insert_blob(connection: sqlite3.Connection, text: str) -> str:
    name = hashlib.sha256(text.encode()).hexdigest()
    connection.execute("INSERT OR IGNORE INTO blob VALUES (?, ?)", (name, text))
    return name


def _find_blob(connection: sqlite3.Connection, session_id: str, number: int, name: str) -> str:
    row = connection.execute("SELECT body FROM blob WHERE hash = ?", (name,)).fetchone()
    if row is None or hashlib.sha256(row[0].encode()).hexdigest() != name:
        problem = "its long body is missing or is not what was written"
        raise DamagedSessionError(session_id, number, problem)
    return row[0]
