"""What a store of sessions does, and what goes into it; `StoreKit` tests one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

Event = tuple[str, Any]
"""What is appended: a kind, and a body of JSON."""

ORIGIN = "session:origin"
"""The kind of a session's first event of its own, which the store writes: where it comes from."""
META = "session:meta"
"""The kind of the events that the store writes where `meta` changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session that begins."""

    parent: str | None = None
    """The session whose tool call started it; None for one of its own."""
    call: str | None = None
    """The key of that tool call."""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What lists of sessions show and search, such as its folder and its name; JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to write to a session, until somebody else claims it."""

    session_id: str
    epoch: int
    """How often the session was claimed, this time included."""
    head: int
    """The number of its last event; 0 without any."""


class StoredEvent(NamedTuple):
    """An event of a session, as it was appended."""

    number: int
    """1 for the first event of a session; those of a fork go on behind its origin's."""
    epoch: int
    """The claim that it was written under."""
    kind: str
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxEntry:
    """Something for a session that no turn of it has used yet."""

    id: int
    kind: str
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What a store knows about a session without reading it."""

    id: str
    parent: str | None
    call: str | None
    base: str | None
    """The session that this one is a fork of."""
    base_number: int
    """The last event that it has in common with that session; 0 if it is none."""
    epoch: int
    head: int
    owner: str | None
    """Who has claimed it; None after `end`."""
    due: float | None
    """When somebody may `take` it, in seconds since the epoch; None for never."""
    written: float
    """When its last event was stored, in seconds since the epoch."""
    meta: Mapping[str, Any]


def is_wanted(
    info: SessionInfo,
    agents: Collection[str] | None,
    accepts: Callable[[SessionInfo], bool] | None,
) -> bool:
    """Whether a session is one of those that the caller of `Store.take` wants."""
    if agents is not None and info.meta.get("agent") not in agents:
        return False
    return accepts is None or accepts(info)


@runtime_checkable
class Store(Protocol):
    """Keeps the events of sessions, and who may write them.

    All of it works under asyncio and trio, and from any thread: a call must not wait for the event
    loop of another one, which may stand still until it returns. What has returned is on the disk.
    Two processes may use a store at once: the last who claimed a session writes to it.
    """

    async def claim(
        self,
        session_id: str,
        owner: str,
        *,
        new: NewSession | None = None,
        due: float | None = None,
    ) -> Claim:
        """Become the owner of a session, in place of whoever is.

        Args:
            session_id: Its id.
            owner: Who claims it, for people to read.
            new: Begin the session; None for one that is stored.
            due: When somebody else may `take` it, in seconds since the epoch; None for never.

        Raises:
            UnknownSessionError: It is not stored, and `new` is None.
            SessionExistsError: It is stored, and `new` is given.
            StoreError: The store cannot be used.
        """
        ...

    async def append(
        self,
        claim: Claim,
        events: Sequence[Event],
        *,
        done: Sequence[int] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> Claim:
        """Add events, all of them or none, and return the claim with its new head.

        Args:
            claim: The claim, with the head that it had after the last `append`.
            events: What has happened, in order.
            done: The ids of inbox entries that these events have used.
            meta: What the session's `meta` is from now on; None for no change.

        Raises:
            StaleOwnerError: Somebody else has claimed the session.
            StoreError: The store cannot be written.
        """
        ...

    async def read(
        self, session_id: str, *, after: int = 0, until: int | None = None
    ) -> list[StoredEvent]:
        """Return the events of a session, those of its origin included.

        Args:
            session_id: Its id.
            after: Leave out the events up to this number.
            until: Leave out those behind this number, and do not look at them; None for all.

        Raises:
            UnknownSessionError: It is not stored.
            DamagedSessionError: They are not what was written; none is returned.
            StoreError: The store cannot be read.
        """
        ...

    async def fork(
        self,
        session_id: str,
        new_id: str,
        *,
        at: int | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> SessionInfo:
        """Make a session that has the events of another up to a number, without copying them.

        Args:
            session_id: The origin.
            new_id: The id of the fork.
            at: The last event that both have; None for the last of the origin.
            meta: The `meta` of the fork; None for that of the origin.

        Raises:
            UnknownSessionError: The origin is not stored.
            SessionExistsError: The new id is in use.
            ValueError: The origin has no event of this number.
        """
        ...

    async def put(self, session_id: str, kind: str, body: Any, *, due: float | None = None) -> int:
        """Add an entry to the inbox of a session, whoever owns it; return its id.

        Args:
            session_id: The id of the session.
            kind: What it is.
            body: What it says, as JSON.
            due: When somebody has to look at it, in seconds since the epoch. As long as it is not
                done, the session is due then at the latest whenever nobody owns it.

        Raises:
            UnknownSessionError: It is not stored.
        """
        ...

    async def inbox(self, session_id: str) -> list[InboxEntry]:
        """Return the entries that are not done, in the order in which they were put.

        Raises:
            UnknownSessionError: It is not stored.
        """
        ...

    async def sessions(self) -> list[SessionInfo]:
        """Return all sessions, the ones last written to first."""
        ...

    async def take(
        self,
        owner: str,
        *,
        now: float,
        due: float | None,
        agents: Collection[str] | None = None,
        accepts: Callable[[SessionInfo], bool] | None = None,
    ) -> Claim | None:
        """Claim the session that is due the longest; None if none is due by `now`.

        Args:
            owner: Who claims it, for people to read.
            now: The time, in seconds since the epoch.
            due: When somebody else may take it then; None for never.
            agents: Take only sessions whose `meta` has one of these as `agent`; None for any.
            accepts: Whether to take a session, from any thread and perhaps more than once; those
                that are refused are left to others, and the next one is looked at.
        """
        ...

    async def renew(self, claim: Claim, *, due: float | None) -> None:
        """Set when somebody else may `take` the session.

        Raises:
            StaleOwnerError: Somebody else has claimed it.
        """
        ...

    async def end(self, claim: Claim, *, due: float | None = None) -> None:
        """Give the session back: nobody owns it, and it may be taken when it is due.

        That is at `due`, or when an entry of its inbox is that is not done, if that is earlier.

        Raises:
            StaleOwnerError: Somebody else has claimed it.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Remove a session and its sub-agents; what its forks have of it stays readable for them.

        Raises:
            UnknownSessionError: It is not stored.
        """
        ...

    async def close(self) -> None:
        """Close what is open; nothing if it is closed."""
        ...
