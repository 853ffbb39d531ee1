"""One file: a session with its sub-agents and its forks."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from amplifier_core import world

from ..begun_rows import make_fork_row, make_session_row
from ..errors import DamagedSessionError, SessionExistsError, StoreError
from ..json_text import write_json
from ..row_checks import check_row
from ..store import META, Claim, Event, InboxEntry, NewSession, SessionInfo, StoredEvent
from .event_rows import find_last_number, insert_events, put_text_aside, read_events
from .inbox_rows import find_first_due, list_entries, note_done, put_entry
from .session_rows import (
    begin_session,
    find_session,
    has_id,
    list_parts,
    list_sessions,
    mark_deleted,
    require_owner,
    require_session,
    set_owner,
)


class SessionFile:
    """The tables of one file, and each operation on them as one transaction.

    It is used by one thread at a time. The operations are those of `Store`.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use the connection, which `close` closes."""
        self._connection = connection

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def begin(self, session_id: str, owner: str, new: NewSession, due: float | None) -> Claim:
        """Add a session, and claim it."""
        info = make_session_row(session_id, owner, new, due)
        with self._writing():
            if has_id(self._connection, session_id):
                raise SessionExistsError(session_id)
            begin_session(self._connection, info)
        return Claim(session_id=session_id, epoch=1, head=1)

    def claim(self, session_id: str, owner: str, due: float | None) -> Claim:
        """Claim a session."""
        with self._writing():
            info = require_session(self._connection, session_id)
            return set_owner(self._connection, info, owner, due)

    def take(
        self,
        session_id: str,
        owner: str,
        now: float,
        due: float | None,
        accepts: Callable[[SessionInfo], bool],
    ) -> Claim | None:
        """Claim a session if it is due `now` and accepted; else None."""
        with self._writing():
            info = find_session(self._connection, session_id)
            if info is None or info.due is None or info.due > now or not accepts(info):
                return None
            return set_owner(self._connection, info, owner, due)

    def append(
        self,
        claim: Claim,
        events: Sequence[Event],
        done: Sequence[int],
        meta: Mapping[str, Any] | None,
    ) -> Claim:
        """Add events behind the head of the claim."""
        session_id = claim.session_id
        put_aside = partial(put_text_aside, self._connection)
        with self._writing():
            rows = [(kind, write_json(body, put_aside)) for kind, body in events]
            new_meta = None if meta is None else write_json(meta)
            if new_meta is not None:
                rows.append((META, new_meta))
            info = require_owner(self._connection, claim)
            if info.head != claim.head:
                raise StoreError(
                    f"session `{session_id}` has {info.head} events, and its owner knows of"
                    f" {claim.head} (must be the claim that the last `append` returned)"
                )
            head = insert_events(self._connection, session_id, claim.epoch, info.head, rows)
            for entry in done:
                note_done(self._connection, session_id, entry, head)
            self._connection.execute(
                "UPDATE session SET head = ?, written = ?, meta = coalesce(?, meta) WHERE id = ?",
                (head, world.time(), new_meta, session_id),
            )
        return replace(claim, head=head)

    def read(self, session_id: str, after: int, until: int | None) -> list[StoredEvent]:
        """Return the events behind `after` and up to `until`, checked."""
        events: list[StoredEvent] = []
        with self._reading():
            info = require_session(self._connection, session_id)
            last = info.head if until is None else min(until, info.head)
            # From the first event on: whether the row of the session is true, they alone tell.
            for part in list_parts(self._connection, info, last):
                events += read_events(self._connection, *part)
            if until is None:
                check_row(info, events[info.base_number :])
                self._check_head(info)
        return events[max(after, 0) :]

    def fork(
        self, session_id: str, new_id: str, at: int | None, meta: Mapping[str, Any] | None
    ) -> SessionInfo:
        """Add a session that has the events of another up to `at`."""
        with self._writing():
            info = require_session(self._connection, session_id)
            number = info.head if at is None else at
            if not 1 <= number <= info.head:
                raise ValueError(
                    f"session `{session_id}` has no event {number} (must be 1 to {info.head})"
                )
            if has_id(self._connection, new_id):
                raise SessionExistsError(new_id)
            # The origin may be a fork itself, and end before its own events begin.
            base = next(
                part.session_id
                for part in list_parts(self._connection, info, number)
                if part.last == number
            )
            fork = make_fork_row(new_id, base, number, info.meta if meta is None else meta)
            begin_session(self._connection, fork)
        return fork

    def put(self, session_id: str, kind: str, body: Any, due: float | None) -> int:
        """Add an entry to the inbox."""
        text = write_json(body)
        with self._writing():
            info = require_session(self._connection, session_id)
            entry = put_entry(self._connection, session_id, kind, text, due)
            if info.owner is None and due is not None:
                self._set_due(session_id, due if info.due is None else min(info.due, due))
            return entry

    def inbox(self, session_id: str) -> list[InboxEntry]:
        """Return the entries that are not done."""
        with self._reading():
            require_session(self._connection, session_id)
            return list_entries(self._connection, session_id)

    def sessions(self) -> list[SessionInfo]:
        """Return the sessions of the file."""
        return list_sessions(self._connection)

    def renew(self, claim: Claim, due: float | None) -> None:
        """Set when the session may be taken."""
        with self._writing():
            info = require_owner(self._connection, claim)
            is_owned = info.owner is not None
            self._set_due(claim.session_id, due if is_owned else self._find_earlier(claim, due))

    def end(self, claim: Claim, due: float | None) -> None:
        """Give the session back."""
        with self._writing():
            require_owner(self._connection, claim)
            self._connection.execute(
                "UPDATE session SET owner = NULL WHERE id = ?", (claim.session_id,)
            )
            self._set_due(claim.session_id, self._find_earlier(claim, due))

    def delete(self, session_id: str) -> tuple[list[str], bool]:
        """Delete a session and its sub-agents; return their ids, and whether the file is empty."""
        self._connection.execute("PRAGMA secure_delete = ON")
        with self._writing():
            require_session(self._connection, session_id)
            deleted = mark_deleted(self._connection, session_id)
            (left,) = self._connection.execute("SELECT count(*) FROM session").fetchone()
        return deleted, left == 0

    def list_problems(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        rows = self._connection.execute("PRAGMA integrity_check").fetchall()
        return [text for (text,) in rows if text != "ok"]

    def _find_earlier(self, claim: Claim, due: float | None) -> float | None:
        """Return `due`, or when an entry of the inbox is due, if that is earlier."""
        dues = due, find_first_due(self._connection, claim.session_id)
        return min((each for each in dues if each is not None), default=None)

    def _set_due(self, session_id: str, due: float | None) -> None:
        self._connection.execute("UPDATE session SET due = ? WHERE id = ?", (due, session_id))

    def _check_head(self, info: SessionInfo) -> None:
        if find_last_number(self._connection, info.id) != info.head:
            problem = f"the session ends at event {info.head}, and there are more"
            raise DamagedSessionError(info.id, info.head, problem)

    @contextmanager
    def _writing(self) -> Generator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _reading(self) -> Generator[None]:
        """See one state of the file, whatever others write meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
