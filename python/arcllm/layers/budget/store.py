"""What was spent, and what is reserved for calls under way, in a SQLite file that processes share.

All amounts are millionths of a US dollar. A call is reserved in one transaction and settled in
another. The journal is one for rolling back: of a process that is killed, either the whole
transaction stays or nothing. `synchronous` is `OFF`: waiting for the disk twice a call would take
longer than all else, and only a crash of the whole machine can harm the file, which is then an error
of the next call, not a budget that begins anew.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import getrandbits
from threading import Lock
from typing import Any

from .account import Account, Limit
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
_SPENT = "SELECT micros FROM spent WHERE scope = ? AND period = ?"
_SPEND = """
INSERT INTO spent (scope, period, micros) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET micros = micros + excluded.micros
"""


_creating = Lock()
"""A file that is closed loses all locks that its process has on it: nobody may use a new file before
its creator has closed it, and an old one is not opened but by SQLite."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How much of a limit is used."""

    limit: Limit
    spent: int
    reserved: int = 0
    """For calls under way."""
    is_news: bool = False
    """Whether this is the first time that so much of it is spent."""

    @property
    def used(self) -> int:
        """What is spent or reserved."""
        return self.spent + self.reserved


class BudgetStore:
    """The file; safe to share between threads and processes. Each method blocks.

    Args:
        path: The file; it is made at the first call, readable only by the user.
        busy_seconds: How long to wait for other processes.
    """

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._lock = Lock()

    def reserve(
        self, account: Account, micros: int, limits: Sequence[Limit], now: float, lease: float
    ) -> int | Standing:
        """Reserve what a call may cost, or return the limit that it could pass.

        Args:
            account: To whom it is charged.
            micros: What it may cost.
            limits: The limits that hold for it.
            now: The time, in seconds since the epoch; reservations that expired are forgotten.
            lease: For how many seconds the reservation holds.

        Returns:
            The number of the reservation, or the first limit that has too little left.

        Raises:
            ArcLLMBudgetFileError: The file cannot be used.
        """
        with self._transaction() as connection:
            if _sum(connection, "SELECT COUNT(*) FROM reserved WHERE expires <= ?", (now,)):
                connection.execute("DELETE FROM reserved WHERE expires <= ?", (now,))
            for limit in limits:
                standing = Standing(
                    limit,
                    _sum(connection, _SPENT, (limit.scope, limit.period)),
                    _reserved(connection, limit),
                )
                if standing.used + micros > limit.micros:
                    return standing
            # No number is used again, as that of a reservation which expired may still be settled.
            number = getrandbits(63)
            connection.execute(
                "INSERT INTO reserved VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    account.agent,
                    account.provider,
                    account.day,
                    account.month,
                    micros,
                    now + lease,
                ),
            )
            return number

    def settle(
        self,
        reservation: int | None,
        account: Account,
        micros: int,
        limits: Sequence[Limit],
        warn_percent: int,
    ) -> list[Standing]:
        """Put what a call did cost in the place of its reservation, expired or not.

        Args:
            reservation: Its number; None if nothing was reserved.
            account: To whom it is charged: the day and the month in which it was asked for.
            micros: What it did cost.
            limits: The limits that hold for it.
            warn_percent: From which part of a limit on a standing is news.

        Returns:
            How much of each limit is spent.

        Raises:
            ArcLLMBudgetFileError: The file cannot be used.
        """
        with self._transaction() as connection:
            if reservation is not None:
                connection.execute("DELETE FROM reserved WHERE id = ?", (reservation,))
            if micros:
                periods = (account.month, account.day)
                rows = [(scope, each, micros) for scope in account.scopes for each in periods]
                connection.executemany(_SPEND, rows)
            return [_standing(connection, limit, warn_percent) for limit in limits]

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        with self._lock, self._explained():
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code, why = getattr(error, "sqlite_errorcode", 0) & 0xFF, str(error)
            if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                why = f"another process has kept it locked for {self._busy_seconds:g} s"
            elif code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
                why += " (move it away to begin with nothing spent)"
            raise ArcLLMBudgetFileError(
                f"cannot use the budget file `{self.path}`: {why}"
            ) from error
        except OSError as error:
            why = error.strerror or error
            raise ArcLLMBudgetFileError(
                f"cannot use the budget file `{self.path}`: {why}"
            ) from error

    def _opened(self) -> sqlite3.Connection:
        # SQLite's connections must not be used in a process that was forked off.
        if self._connection is None or self._process != os.getpid():
            self._connection = self._open()
            self._process = os.getpid()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _creating, suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self.path,
            timeout=self._busy_seconds,
            isolation_level=None,  # transactions begin where it is said
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA journal_mode = PERSIST").fetchone()
            connection.execute("PRAGMA synchronous = OFF")
            self._make_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        if _version(connection) == _VERSION:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = _version(connection)  # another process may have been faster
            if version not in (0, _VERSION):
                why = f"it has version {version} of the tables, this program knows {_VERSION}"
                raise ArcLLMBudgetFileError(f"cannot use the budget file `{self.path}`: {why}")
            if version == 0:
                for statement in _TABLES.split(";")[:-1]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        except BaseException:
            connection.rollback()
            raise
        connection.commit()


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _sum(connection: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> int:
    row = connection.execute(query, values).fetchone()
    return 0 if row is None else row[0]


def _reserved(connection: sqlite3.Connection, limit: Limit) -> int:
    kind, _, name = limit.scope.partition(":")
    period = "month" if len(limit.period) == len("2026-11") else "day"
    query = f"SELECT COALESCE(SUM(micros), 0) FROM reserved WHERE {period} = ?"
    if kind == "all":
        return _sum(connection, query, (limit.period,))
    return _sum(connection, f"{query} AND {kind} = ?", (limit.period, name))


def _standing(connection: sqlite3.Connection, limit: Limit, warn_percent: int) -> Standing:
    row = connection.execute(
        "SELECT micros, warned FROM spent WHERE scope = ? AND period = ?",
        (limit.scope, limit.period),
    ).fetchone()
    spent, warned = row or (0, -1)
    is_news = warned != limit.micros and spent > 0 and spent * 100 >= limit.micros * warn_percent
    if is_news:
        connection.execute(
            "UPDATE spent SET warned = ? WHERE scope = ? AND period = ?",
            (limit.micros, limit.scope, limit.period),
        )
    return Standing(limit, spent, is_news=is_news)
