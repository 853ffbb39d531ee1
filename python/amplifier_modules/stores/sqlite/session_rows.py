"""The rows of sessions in a file: who owns one, and where its events begin."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple, cast

from ..errors import DamagedSessionError, StaleOwnerError, UnknownSessionError
from ..json_text import read_json, write_json
from ..row_checks import describe_origin
from ..store import ORIGIN, Claim, SessionInfo
from .event_rows import insert_events, remove_unused_blobs

_COLUMNS = "id, parent, call, base, base_seq, epoch, head, owner, due, written, meta"
_DELETED = "null"
"""The `meta` of a session that was deleted, and whose events a fork has."""


class Part(NamedTuple):
    """Events of a session that lie together."""

    session_id: str
    first: int
    last: int


def list_sessions(connection: sqlite3.Connection) -> list[SessionInfo]:
    """Return the sessions that are not deleted."""
    select = f"SELECT {_COLUMNS} FROM session WHERE meta <> ?"
    rows = connection.execute(select, (_DELETED,)).fetchall()
    return [_read_info(*row) for row in rows]


def find_session(connection: sqlite3.Connection, session_id: str) -> SessionInfo | None:
    """Return a session that is not deleted; None without one."""
    row = _find_row(connection, session_id)
    return None if row is None or row[-1] == _DELETED else _read_info(*row)


def require_session(connection: sqlite3.Connection, session_id: str) -> SessionInfo:
    """Return a session.

    Raises:
        UnknownSessionError: There is none, or it is deleted.
    """
    info = find_session(connection, session_id)
    if info is None:
        raise UnknownSessionError(session_id)
    return info


def require_owner(connection: sqlite3.Connection, claim: Claim) -> SessionInfo:
    """Return the session of a claim.

    Raises:
        StaleOwnerError: Somebody else has claimed it.
    """
    info = require_session(connection, claim.session_id)
    if info.epoch != claim.epoch:
        raise StaleOwnerError(claim.session_id, claim.epoch, info.epoch)
    return info


def set_owner(
    connection: sqlite3.Connection, info: SessionInfo, owner: str, due: float | None
) -> Claim:
    """Give a session to an owner, in place of whoever had it."""
    epoch = info.epoch + 1
    connection.execute(
        "UPDATE session SET epoch = ?, owner = ?, due = ? WHERE id = ?",
        (epoch, owner, due, info.id),
    )
    return Claim(session_id=info.id, epoch=epoch, head=info.head)


def has_id(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether the id is in use, also by a deleted session."""
    return _find_row(connection, session_id) is not None


def begin_session(connection: sqlite3.Connection, info: SessionInfo) -> None:
    """Add a session, and the event that says where it comes from: `head` is that event."""
    meta = write_json(info.meta)
    connection.execute(
        f"INSERT INTO session ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            info.id,
            info.parent,
            info.call,
            info.base,
            info.base_number,
            info.epoch,
            info.head,
            info.owner,
            info.due,
            info.written,
            meta,
        ),
    )
    rows = [(ORIGIN, write_json(describe_origin(info)))]
    insert_events(connection, info.id, info.epoch, info.base_number, rows)


def list_parts(connection: sqlite3.Connection, info: SessionInfo, last: int) -> list[Part]:
    """Return where the events of a session up to a number are, the oldest first.

    Raises:
        DamagedSessionError: An origin is missing.
    """
    parts: list[Part] = []
    id, base, base_number = info.id, info.base, info.base_number
    while True:
        if last > base_number:
            parts.append(Part(id, base_number + 1, last))
        if base is None:
            return parts[::-1]
        last = min(last, base_number)
        row = _find_row(connection, base)
        if row is None or row[4] >= base_number:
            raise DamagedSessionError(info.id, last, f"its origin `{base}` is missing")
        id, base, base_number = base, row[3], row[4]


def mark_deleted(connection: sqlite3.Connection, session_id: str) -> list[str]:
    """Delete a session and its sub-agents, but for what forks have of them; return their ids."""
    waiting, deleted = [session_id], list[str]()
    while waiting:
        each = waiting.pop()
        deleted.append(each)
        children = connection.execute(
            "SELECT id FROM session WHERE parent = ? AND meta <> ?", (each, _DELETED)
        )
        waiting += [child for (child,) in children]
        connection.execute(
            "UPDATE session SET meta = ?, owner = NULL, due = NULL WHERE id = ?", (_DELETED, each)
        )
        connection.execute("DELETE FROM inbox WHERE session = ?", (each,))
    while _remove_without_forks(connection):
        pass
    # Of the others, what no fork has.
    connection.execute(
        "DELETE FROM event WHERE place IN (SELECT event.place FROM event"
        " JOIN session ON session.number = event.session AND session.meta = ? WHERE event.seq >"
        " (SELECT max(fork.base_seq) FROM session AS fork WHERE fork.base = session.id))",
        (_DELETED,),
    )
    remove_unused_blobs(connection)
    return deleted


def _remove_without_forks(connection: sqlite3.Connection) -> bool:
    rows = connection.execute(
        "SELECT number FROM session WHERE meta = ?"
        " AND NOT EXISTS (SELECT 1 FROM session AS fork WHERE fork.base = session.id)",
        (_DELETED,),
    ).fetchall()
    connection.executemany("DELETE FROM event WHERE session = ?", rows)
    connection.executemany("DELETE FROM session WHERE number = ?", rows)
    return bool(rows)


def _find_row(connection: sqlite3.Connection, session_id: str) -> Any:
    return connection.execute(
        f"SELECT {_COLUMNS} FROM session WHERE id = ?",
        (session_id,),
    ).fetchone()


def _read_info(
    id: str,
    parent: str | None,
    call: str | None,
    base: str | None,
    base_number: int,
    epoch: int,
    head: int,
    owner: str | None,
    due: float | None,
    written: float,
    meta: str,
) -> SessionInfo:
    try:
        read: Any = read_json(meta)
    except ValueError:
        read = None
    numbers = (base_number, epoch, head)
    if not isinstance(read, dict) or not all(isinstance(each, int) for each in numbers):  # pyright: ignore[reportUnnecessaryIsInstance] -- of a damaged file
        raise DamagedSessionError(id, 0, "its row cannot be read")
    return SessionInfo(
        id=id,
        parent=parent,
        call=call,
        base=base,
        base_number=base_number,
        epoch=epoch,
        head=head,
        owner=owner,
        due=due,
        written=written,
        meta=cast("dict[str, Any]", read),
    )
