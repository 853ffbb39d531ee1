"""The store in PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from amplifier_core import world
from amplifier_core.llm_errors import ConfigurationError
from amplifier_providers.settings import read_settings

from ..begun_rows import make_fork_row, make_session_row
from ..errors import (
    DamagedSessionError,
    SessionExistsError,
    StaleOwnerError,
    StoreError,
    UnknownSessionError,
)
from ..json_text import read_json, write_json
from ..row_checks import describe_origin
from ..store import META, ORIGIN, Claim, Event, InboxEntry, NewSession, SessionInfo, StoredEvent
from .address import Address
from .link import Link
from .reader import find_chain, read_session
from .rows import (
    EventRows,
    compute_entry_checksum,
    list_parts,
    read_info,
)
from .settings import PostgresSettings

if TYPE_CHECKING:
    from .connections import Reply

_PAGE = 50
"""How many sessions that are due are looked at together."""
_NONCE_BYTES = 7
_EVENTS, _ENTRIES = "events", "entries"
"""What others are told has changed of a session."""


class PostgresStore:
    """The sessions of one tenant in a database; see `Store`.

    It has a thread of its own for its connections, so that it works under asyncio and trio.
    """

    module = "store-postgres"

    def __init__(self, config: Mapping[str, Any] | None = None, **settings: Any) -> None:
        """Use a database; nothing is connected yet.

        Args:
            config: The keys of `PostgresSettings`.
            **settings: Keys of `PostgresSettings`, which count before those of `config`.

        Raises:
            SettingError: A value cannot be used.
            ConfigurationError: There is no `asyncpg`, or this is Windows.
        """
        if sys.platform == "win32":
            raise ConfigurationError(f"{self.module} runs on POSIX alone, and this is Windows")
        if find_spec("asyncpg") is None:
            raise ConfigurationError(
                f"{self.module}: the package `asyncpg` is missing:"
                " `pip install 'amplifier-core[postgres]'`"
            )
        given = {**(config or {}), **settings}
        self.settings = read_settings(PostgresSettings, given, self.module)
        """Where the sessions are, and whose they are."""
        self.link = Link(Address(self.settings.dsn, self.module), self.settings)
        """The connections, which several stores may share."""
        self._closes_link = True

    def for_tenant(self, tenant: str) -> PostgresStore:
        """Return the store of another tenant over the same connections, which this one closes.

        Raises:
            SettingError: It is no name of a tenant.
        """
        other = copy(self)
        given = {**self.settings.model_dump(), "tenant": tenant}
        other.settings = read_settings(PostgresSettings, given, self.module)
        other._closes_link = False
        return other

    @property
    def place(self) -> str:
        """Host, port and database, without a password."""
        return self.link.address.name

    async def migrate(self, role: str | None = None) -> tuple[int, int]:
        """Make the tables, or change those of an older version; return the versions before and now.

        Args:
            role: Who may use the tables from now on without owning them; None for no change.

        Raises:
            StoreError: That is not possible, or they are those of a newer version.
        """
        from .schema import migrate_schema

        make = partial(migrate_schema, self.link.address, self.settings.database_schema, role)
        return await self.link.run(make)

    async def claim(
        self,
        session_id: str,
        owner: str,
        *,
        new: NewSession | None = None,
        due: float | None = None,
    ) -> Claim:
        """Become the owner of a session."""
        if new is not None:
            info = make_session_row(session_id, owner, new, due)
            await self._begin(info, new.parent)
            return Claim(session_id=session_id, epoch=1, head=1)
        row = _require(session_id, await self._call("claim_session", session_id, owner, due))
        self._note_change(session_id)
        return Claim(session_id=session_id, epoch=row["epoch"], head=row["head"])

    async def append(
        self,
        claim: Claim,
        events: Sequence[Event],
        *,
        done: Sequence[int] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> Claim:
        """Add events."""
        from .connections import NoEntryError

        session_id = claim.session_id
        rows = EventRows(session_id, claim.epoch, claim.head)
        for kind, body in events:
            rows.add(kind, body)
        new_meta = None if meta is None else write_json(meta)
        if new_meta is not None:
            rows.add_text(META, new_meta)
        try:
            reply = await self._call(
                "append_events",
                session_id,
                claim.epoch,
                claim.head,
                rows.kinds,
                rows.bodies,
                rows.checksums,
                *rows.texts.columns,
                list(done),
                new_meta,
                _find_agent(meta),
                world.time(),
            )
        except NoEntryError as error:
            text = f"the inbox of session `{session_id}` has no entry {error} to be done"
            raise StoreError(text) from None
        row = _require(session_id, reply)
        head = claim.head + len(rows.kinds)
        if row["outcome"] == "stale":
            raise StaleOwnerError(session_id, claim.epoch, row["epoch"])
        # A call whose connection was lost has added them: nobody else has this claim.
        if row["outcome"] == "behind" and not (reply.is_again and row["head"] == head):
            raise StoreError(
                f"session `{session_id}` has {row['head']} events, and its owner knows of"
                f" {claim.head} (must be the claim that the last `append` returned)"
            )
        self._note_change(session_id)
        return replace(claim, head=head)

    async def read(
        self, session_id: str, *, after: int = 0, until: int | None = None
    ) -> list[StoredEvent]:
        """Return the events of a session; those that are left out are not looked at."""
        return await read_session(self._call, session_id, max(after, 0), until)

    async def fork(
        self,
        session_id: str,
        new_id: str,
        *,
        at: int | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> SessionInfo:
        """Make a fork."""
        info, chain = await find_chain(self._call, session_id)
        number = info.head if at is None else at
        if not 1 <= number <= info.head:
            raise ValueError(
                f"session `{session_id}` has no event {number} (must be 1 to {info.head})"
            )
        # The origin may be a fork itself, and end before its own events begin.
        base = list_parts(chain, number)[-1].session_id
        fork = make_fork_row(new_id, base, number, info.meta if meta is None else meta)
        await self._begin(fork, session_id)
        return fork

    async def put(self, session_id: str, kind: str, body: Any, *, due: float | None = None) -> int:
        """Add an entry to the inbox."""
        nonce = int.from_bytes(world.random_bytes(_NONCE_BYTES), "big")
        reply = await self._call("put_entry", session_id, kind, write_json(body), due, nonce)
        row = _require(session_id, reply)
        self._note_change(session_id, _ENTRIES)
        return row["id"]

    async def inbox(self, session_id: str) -> list[InboxEntry]:
        """Return the entries that are not done."""
        reply = await self._call("list_entries", session_id)
        _require(session_id, reply)
        entries: list[InboxEntry] = []
        for session, id, kind, body, crc in reply.rows:
            if id is None:
                continue
            if compute_entry_checksum(session, id, kind, body) != crc:
                problem = f"the checksum of entry {id} of its inbox does not match"
                raise DamagedSessionError(session_id, 0, problem)
            entries.append(InboxEntry(id=id, kind=kind, body=read_json(body)))
        return entries

    async def sessions(self) -> list[SessionInfo]:
        """Return all sessions of the tenant."""
        return [read_info(row) for row in (await self._call("list_sessions")).rows]

    async def take(
        self,
        owner: str,
        *,
        now: float,
        due: float | None,
        agents: Collection[str] | None = None,
        accepts: Callable[[SessionInfo], bool] | None = None,
    ) -> Claim | None:
        """Claim the session that is due the longest."""
        names = None if agents is None else list(agents)
        if accepts is None:
            return self._read_taken(await self._call("take_due", owner, now, due, names))
        place: tuple[float, int] = float("-inf"), 0
        while True:
            page = (await self._call("list_due", now, names, *place, _PAGE)).rows
            for row in page:
                if accepts(read_info(row)):
                    taken = await self._call("take_session", row["number"], owner, now, due)
                    if (claim := self._read_taken(taken)) is not None:
                        return claim
            if len(page) < _PAGE:
                return None
            place = page[-1]["due"], page[-1]["number"]

    async def renew(self, claim: Claim, *, due: float | None) -> None:
        """Set when the session may be taken."""
        await self._renew(claim, due, ends=False)

    async def end(self, claim: Claim, *, due: float | None = None) -> None:
        """Give the session back."""
        await self._renew(claim, due, ends=True)
        self._note_change(claim.session_id)

    async def delete(self, session_id: str) -> None:
        """Remove a session and its sub-agents."""
        reply = await self._call("delete_session", session_id)
        # A call whose connection was lost has deleted it.
        if not reply.is_again:
            _require(session_id, reply)
        self._note_change(session_id)

    async def verify(self, session_id: str) -> list[str]:
        """Return what is wrong with a session; nothing if all is whole.

        Raises:
            UnknownSessionError: It is not stored.
        """
        problems: list[str] = []
        for look in (self.read, self.inbox):
            try:
                await look(session_id)
            except DamagedSessionError as error:
                problems.append(str(error))
        return problems

    async def wait_for_events(self, session_id: str, seconds: float) -> None:
        """Return when a session may have new events, or after these seconds at the latest."""
        await self.link.wait(self._make_key(_EVENTS, session_id), seconds)

    async def wait_for_entries(self, session_id: str, seconds: float) -> None:
        """Return when its inbox may have new entries, or after these seconds at the latest."""
        await self.link.wait(self._make_key(_ENTRIES, session_id), seconds)

    async def list_due_tenants(self, now: float) -> list[str]:
        """Return the tenants that have a session to `take`, the one that is due the longest first.

        What the sessions are stays out of reach: `for_tenant` takes them.
        """
        reply = await self.link.call("list_due_tenants", (now,))
        return [row["tenant"] for row in reply.rows]

    async def close(self) -> None:
        """Close the connections; nothing if they are closed, or of another store."""
        if self._closes_link:
            await self.link.close()

    async def _begin(self, info: SessionInfo, origin: str | None) -> None:
        rows = EventRows(info.id, info.epoch, info.base_number)
        rows.add(ORIGIN, describe_origin(info))
        reply = await self._call(
            "begin_session",
            info.id,
            origin,
            info.parent,
            info.call,
            info.base,
            info.base_number,
            info.epoch,
            info.owner,
            info.due,
            info.written,
            write_json(info.meta),
            _find_agent(info.meta),
            rows.kinds[0],
            rows.bodies[0],
            rows.checksums[0],
            *rows.texts.columns,
        )
        outcome = reply.rows[0]["outcome"] if reply.rows else "exists"
        if outcome == "unknown":
            raise UnknownSessionError(origin or info.id)
        if outcome == "exists" or (outcome == "same" and not reply.is_again):
            raise SessionExistsError(info.id)
        self._note_change(info.id)

    async def _renew(self, claim: Claim, due: float | None, *, ends: bool) -> None:
        session_id = claim.session_id
        reply = await self._call("renew_claim", session_id, claim.epoch, due, ends)
        row = _require(session_id, reply)
        if row["outcome"] == "stale":
            raise StaleOwnerError(session_id, claim.epoch, row["epoch"])

    def _read_taken(self, reply: Reply) -> Claim | None:
        if not reply.rows:
            return None
        id, epoch, head = reply.rows[0]
        self._note_change(id)
        return Claim(session_id=id, epoch=epoch, head=head)

    def _note_change(self, session_id: str, kind: str = _EVENTS) -> None:
        self.link.note_change(self._make_key(kind, session_id))

    def _make_key(self, kind: str, session_id: str) -> str:
        from .listening import make_key

        return make_key(kind, self.settings.tenant, session_id)

    async def _call(self, function: str, *arguments: Any) -> Reply:
        return await self.link.call(function, (self.settings.tenant, *arguments))


def _require(session_id: str, reply: Reply) -> Any:
    if not reply.rows:
        raise UnknownSessionError(session_id)
    return reply.rows[0]


def _find_agent(meta: Mapping[str, Any] | None) -> str | None:
    agent = None if meta is None else meta.get("agent")
    return agent if isinstance(agent, str) else None
