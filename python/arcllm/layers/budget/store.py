"""What was spent, and what is reserved for calls under way, in a SQLite file that processes share.

All amounts are millionths of a US dollar. A call is reserved in one transaction and settled in
another.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

from amplifier_core import world

from .account import Account, Limit
from .errors import ArcLLMBudgetFileError
from .file import open_file

_MONTH = len("2026-11")
_MOST_SPENT = 2**62
"""SQLite's sums beyond its whole numbers would be rounded."""
_FORGET = "DELETE FROM reserved WHERE id = ? OR expires <= ?"
_SPENT = "SELECT micros FROM spent WHERE scope = ? AND period = ?"

T = TypeVar("T")


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


class StoreBusyError(Exception):
    """Somebody else uses the file, or it is not open: whoever has no time must not wait for it."""


class BudgetStore:
    """The file; safe to share between threads and processes. Each method blocks.

    With `waits=False`, a method that would have to wait raises `StoreBusyError` and changes nothing.

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
        self,
        account: Account,
        micros: int,
        limits: Sequence[Limit],
        now: float,
        lease: float,
        *,
        waits: bool = True,
    ) -> int | Standing:
        """Reserve what a call may cost, or return the limit that it could pass.

        Args:
            account: To whom it is charged.
            micros: What it may cost.
            limits: The limits that hold for it.
            now: The time, in seconds since the epoch; reservations that expired do not count.
            lease: For how many seconds the reservation holds.
            waits: Whether to wait for others.

        Returns:
            The number of the reservation, or the first limit that has too little left.

        Raises:
            ArcLLMBudgetFileError: The file cannot be used.
            StoreBusyError: It would have to wait.
        """
        # No number is used again, as that of a reservation which expired may still be settled.
        number = int.from_bytes(world.random_bytes(8)) >> 1
        whose = (account.agent, account.provider, account.day, account.month)
        row = (number, *whose, micros, now + lease)

        def make_change(connection: sqlite3.Connection) -> int | Standing:
            values = [*row]
            for limit in limits:
                values += [*_select_values(limit), now, limit.micros - micros]
            while not connection.execute(
                _reserve(tuple(map(_split_kinds, limits))), values
            ).rowcount:
                for limit in limits:
                    which = _select_values(limit)
                    spent = connection.execute(_SPENT, which[:2]).fetchone()
                    held = connection.execute(
                        _reserved_sql(*_split_kinds(limit)), (*which[2:], now)
                    ).fetchone()
                    standing = Standing(limit, 0 if spent is None else spent[0], held[0])
                    if standing.used + micros > limit.micros:
                        return standing
            return number

        # One statement is a transaction by itself.
        return self._use(make_change, waits)

    def settle(
        self,
        reservation: int | None,
        account: Account,
        micros: int,
        limits: Sequence[Limit],
        warn_percent: int,
        *,
        now: float = 0.0,
        waits: bool = True,
    ) -> list[Standing]:
        """Put what a call did cost in the place of its reservation, expired or not.

        Args:
            reservation: Its number; None if nothing was reserved.
            account: To whom it is charged: the day and the month in which it was asked for.
            micros: What it did cost.
            limits: The limits that hold for it.
            warn_percent: From which part of a limit on a standing is news.
            now: The time; reservations that had expired by then are removed.
            waits: Whether to wait for others.

        Returns:
            How much of each limit is spent.

        Raises:
            ArcLLMBudgetFileError: The file cannot be used.
            StoreBusyError: It would have to wait.
        """

        def make_change(connection: sqlite3.Connection) -> list[Standing]:
            connection.execute(_FORGET, (reservation, now))
            if micros:
                scopes = account.scopes
                periods = (account.month, account.day)
                rows = [(scope, each, micros) for scope in scopes for each in periods]
                connection.execute(_spend(len(rows)), [value for row in rows for value in row])
            return [_read_standing(connection, limit, warn_percent) for limit in limits]

        return self._use(lambda connection: _run_transaction(connection, make_change), waits)

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()

    def __del__(self) -> None:
        """Close the file of a model that nobody closed: a connection must not be left to the collector."""
        self.close()

    def _use(self, change: Callable[[sqlite3.Connection], T], waits: bool) -> T:
        if not self._lock.acquire(blocking=waits):
            raise StoreBusyError
        try:
            if waits:
                with self._explain_errors(), self._waiting() as connection:
                    return change(connection)
            # SQLite's connections must not be used in a process that was forked off.
            if self._connection is None or self._process != os.getpid():
                raise StoreBusyError
            try:
                return change(self._connection)
            except sqlite3.Error as error:
                # Whoever waits finds out what it is.
                raise StoreBusyError from error
        finally:
            self._lock.release()

    @contextmanager
    def _waiting(self) -> Generator[sqlite3.Connection]:
        """Yield a connection that waits for other processes."""
        if self._connection is None or self._process != os.getpid():
            self._connection = open_file(self.path, self._busy_seconds)
            self._process = os.getpid()
        connection = self._connection
        connection.execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")
        try:
            yield connection
        finally:
            connection.execute("PRAGMA busy_timeout = 0")

    @contextmanager
    def _explain_errors(self) -> Generator[None]:
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


def _run_transaction(
    connection: sqlite3.Connection, change: Callable[[sqlite3.Connection], T]
) -> T:
    """Make a change as one transaction."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        result = change(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
    return result


@cache
def _spend(rows: int) -> str:
    """Return the statement that adds amounts to those which are spent."""
    values = ", ".join(["(?, ?, ?)"] * rows)
    return (
        f"INSERT INTO spent (scope, period, micros) VALUES {values}"
        f" ON CONFLICT DO UPDATE SET micros = MIN(micros + excluded.micros, {_MOST_SPENT})"
    )


def _select_values(limit: Limit) -> tuple[str, ...]:
    """Return the values that pick what counts for a limit: spent, then reserved."""
    kind, _, name = limit.scope.partition(":")
    return (limit.scope, limit.period, limit.period, *(() if kind == "all" else (name,)))


def _split_kinds(limit: Limit) -> tuple[str, str]:
    """Return whose limit it is, and for what time: the columns that reservations have for both."""
    return limit.scope.partition(":")[0], "month" if len(limit.period) == _MONTH else "day"


@cache
def _reserved_sql(kind: str, period: str) -> str:
    whose = "" if kind == "all" else f" AND {kind} = ?"
    return (
        f"SELECT COALESCE(SUM(micros), 0) FROM reserved WHERE {period} = ?{whose} AND expires > ?"
    )


@cache
def _reserve(limits: tuple[tuple[str, str], ...]) -> str:
    """Return the statement that reserves, if no limit is passed."""
    fits = [f"COALESCE(({_SPENT}), 0) + ({_reserved_sql(*limit)}) <= ?" for limit in limits]
    return f"INSERT INTO reserved SELECT ?, ?, ?, ?, ?, ?, ? WHERE {' AND '.join(fits) or '1'}"


def _read_standing(connection: sqlite3.Connection, limit: Limit, warn_percent: int) -> Standing:
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
