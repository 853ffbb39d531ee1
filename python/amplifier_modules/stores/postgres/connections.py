"""The connections of a process to one database, and the calls of its functions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..errors import MissingSchemaError, NewerStoreError, StoreError
from .address import Address
from .driver import asyncpg
from .failures import FAILED, LOST, describe_failure
from .listening import Listening
from .schema import VERSION, quote_name

logger = logging.getLogger(__name__)

Row = Any
"""A record of asyncpg."""

_PAUSES = 0.02, 0.05, 0.1, 0.2
"""Seconds before a call is made again whose connection was lost; then always the last."""
_IDLE_SECONDS = 60.0
_CLOSE_SECONDS = 2.0
_NO_ENTRY = "AMP01"
"""What the functions raise where an entry of an inbox is not there."""


class Reply(NamedTuple):
    """What a function has returned."""

    rows: list[Row]
    is_again: bool
    """Whether it was called before, and the connection was lost: it may have worked then."""


class NoEntryError(Exception):
    """An entry of an inbox is not there to be done."""


class Connections:
    """A pool, used in the thread of one event loop."""

    def __init__(self, address: Address, schema: str, size: int, seconds: float) -> None:
        """Connect to nothing yet.

        Args:
            address: The database.
            schema: The schema of the tables.
            size: How many connections there are at most.
            seconds: How long a call takes at most.
        """
        self._address = address
        self._schema = schema
        self._size = size
        self._seconds = seconds
        self._pool: Any = None
        self._opening: asyncio.Lock | None = None
        self._behind_pooler = False
        self._listening: Listening | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    async def call(self, function: str, arguments: Sequence[Any]) -> Reply:
        """Call a function of the schema, again if the connection is lost.

        Raises:
            StoreError: That is not possible.
            NoEntryError: An entry of the inbox is not there.
        """
        places = ", ".join(f"${number}" for number in range(1, len(arguments) + 1))
        statement = f"SELECT * FROM {quote_name(self._schema)}.{function}({places})"
        was_connected, is_again = self._pool is not None, False
        loop = asyncio.get_running_loop()
        end, tries = loop.time() + self._seconds, 0
        while True:
            try:
                async with asyncio.timeout_at(end):
                    return Reply(await self._call_once(statement, arguments), is_again)
            except asyncpg.PostgresError as error:
                if error.sqlstate == _NO_ENTRY:
                    raise NoEntryError(error.detail) from None
                failure: BaseException = error
            except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
                if isinstance(error, ValueError) and not isinstance(error, OSError):
                    raise  # of an argument
                failure = error
            pause = _PAUSES[min(tries, len(_PAUSES) - 1)]
            can_try = was_connected or isinstance(failure, asyncpg.CannotConnectNowError)
            if not can_try or not isinstance(failure, LOST) or loop.time() + pause > end:
                raise self._describe(failure) from failure
            is_again, tries = True, tries + 1
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Close all connections, when what is under way has ended."""
        self._closed.set()
        if self._preparing is not None:
            await self._preparing
        if self._listening is not None:
            await self._listening.close()
            self._listening = None
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                await asyncio.wait_for(pool.close(), _CLOSE_SECONDS)
            except (TimeoutError, *LOST):
                pool.terminate()

    def note_change(self, key: str) -> None:
        """Tell others soon that a session has changed."""
        if self._listening is not None:
            self._listening.note_change(key)

    async def wait(self, key: str, seconds: float) -> None:
        """Return when a session has changed, or after these seconds."""
        if self._listening is None:
            # By a task of its own, which goes on where this wait is over first.
            self._preparing = self._preparing or asyncio.create_task(self._prepare())
            await asyncio.wait((self._preparing,), timeout=seconds)
        if self._listening is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._closed.wait()
        else:
            await self._listening.wait(key, seconds)

    async def _call_once(self, statement: str, arguments: Sequence[Any]) -> list[Row]:
        pool = self._pool or await self._open()
        async with pool.acquire() as connection:
            try:
                if not self._behind_pooler:
                    return await connection.fetch(statement, *arguments)
                # What is prepared has to run on the connection of the pooler where it was prepared.
                async with connection.transaction():
                    return await connection.fetch(statement, *arguments)
            except (asyncpg.PostgresError, ValueError):
                raise
            except BaseException:
                # Nobody knows what it still waits for.
                connection.terminate()
                raise

    async def _prepare(self) -> None:
        try:
            await self._open()
        except (*FAILED, StoreError):
            pass  # whoever calls a function next says what is wrong
        finally:
            self._preparing = None

    async def _open(self) -> Any:
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._pool is None:
                self._behind_pooler = await self._look_at_server()
                self._pool = await asyncpg.create_pool(
                    self._address.dsn,
                    min_size=0,
                    max_size=self._size,
                    max_inactive_connection_lifetime=_IDLE_SECONDS,
                    # No statement leaves anything behind in a connection.
                    reset=_leave_as_it_is,
                    **self._list_options(),
                )
                self._listening = Listening(
                    self._call_once, self._connect, self._schema, can_listen=not self._behind_pooler
                )
            return self._pool

    async def _look_at_server(self) -> bool:
        """Check the schema and the role; return whether a pooler is in between."""
        connection = await self._connect()
        try:
            async with connection.transaction():
                process, bypasses = await connection.fetchrow(
                    "SELECT pg_backend_pid(), rolsuper OR rolbypassrls FROM pg_roles"
                    " WHERE rolname = current_user"
                )
                found = await connection.fetchval(
                    f"SELECT max(number) FROM {quote_name(self._schema)}.version"
                )
            is_pooled = process != connection.get_server_pid()
        finally:
            await connection.close(timeout=_CLOSE_SECONDS)
        place = self._address.name
        if found is None or found < VERSION:
            raise MissingSchemaError(
                f"`{place}` has version {found or 0} of schema `{self._schema}`, and this version"
                f" needs {VERSION}: run `amplifier-core store migrate`"
            )
        if found > VERSION:
            raise NewerStoreError(f"{place}/{self._schema}", found, VERSION)
        if bypasses:
            logger.warning(
                "the role for `%s` is not bound by row-level security (must be a role that is no"
                " superuser and has no `BYPASSRLS`)",
                place,
            )
        if is_pooled:
            logger.warning(
                "`%s` is a pooler: no statement is prepared, and nothing is listened to, so that"
                " changes of others are looked for",
                place,
            )
        return is_pooled

    async def _connect(self) -> Any:
        # Without a cache it also works behind a pooler.
        return await asyncpg.connect(
            self._address.dsn, timeout=self._seconds, statement_cache_size=0
        )

    def _list_options(self) -> dict[str, Any]:
        found: dict[str, Any] = {"timeout": self._seconds, "command_timeout": self._seconds}
        if self._behind_pooler:
            found["statement_cache_size"] = 0
        return found

    def _describe(self, error: BaseException) -> Exception:
        return describe_failure(error, self._address, self._schema, self._seconds)


async def _leave_as_it_is(_: Any) -> None:
    pass
