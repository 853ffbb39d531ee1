"""A store as one session sees it that a worker has taken: it does not claim what is its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from amplifier_modules.stores import (
    Claim,
    Event,
    InboxEntry,
    NewSession,
    SessionInfo,
    Store,
    StoredEvent,
)
from amplifier_modules.stores.waiting import wait_for_entries


class LeasedStore:
    """Passes all on, but for the claim and the end of the session, which are the worker's.

    A claim in between would take the session back from a worker that has taken it over meanwhile.
    """

    def __init__(self, store: Store, claim: Claim) -> None:
        """Pass on to a store.

        Args:
            store: The store.
            claim: The claim under which the worker has the session.
        """
        self._store = store
        self._claim = claim

    async def claim(
        self,
        session_id: str,
        owner: str,
        *,
        new: NewSession | None = None,
        due: float | None = None,
    ) -> Claim:
        """Return the claim of the worker, or become the owner of another session."""
        if session_id == self._claim.session_id and new is None:
            return self._claim
        return await self._store.claim(session_id, owner, new=new, due=due)

    async def end(self, claim: Claim, *, due: float | None = None) -> None:
        """Give another session back; the worker gives its own back."""
        if claim.session_id != self._claim.session_id:
            await self._store.end(claim, due=due)

    async def append(
        self,
        claim: Claim,
        events: Sequence[Event],
        *,
        done: Sequence[int] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> Claim:
        """Add events."""
        return await self._store.append(claim, events, done=done, meta=meta)

    async def read(
        self, session_id: str, *, after: int = 0, until: int | None = None
    ) -> list[StoredEvent]:
        """Return the events of a session."""
        return await self._store.read(session_id, after=after, until=until)

    async def fork(
        self,
        session_id: str,
        new_id: str,
        *,
        at: int | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> SessionInfo:
        """Make a fork."""
        return await self._store.fork(session_id, new_id, at=at, meta=meta)

    async def put(self, session_id: str, kind: str, body: Any, *, due: float | None = None) -> int:
        """Add an entry to the inbox."""
        return await self._store.put(session_id, kind, body, due=due)

    async def inbox(self, session_id: str) -> list[InboxEntry]:
        """Return the entries that are not done."""
        return await self._store.inbox(session_id)

    async def sessions(self) -> list[SessionInfo]:
        """Return all sessions."""
        return await self._store.sessions()

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
        return await self._store.take(owner, now=now, due=due, agents=agents, accepts=accepts)

    async def renew(self, claim: Claim, *, due: float | None) -> None:
        """Set when somebody else may take the session."""
        await self._store.renew(claim, due=due)

    async def delete(self, session_id: str) -> None:
        """Remove a session."""
        await self._store.delete(session_id)

    async def wait_for_entries(self, session_id: str, seconds: float) -> None:
        """Return when the inbox of a session may have new entries, or after these seconds."""
        await wait_for_entries(self._store, session_id, seconds)

    async def close(self) -> None:
        """Do nothing: other sessions use the store."""
