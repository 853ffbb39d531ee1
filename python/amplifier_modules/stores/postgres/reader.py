"""How the events of a session are read."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import DamagedSessionError, UnknownSessionError
from ..row_checks import check_row
from ..store import SessionInfo, StoredEvent
from .rows import list_parts, read_info, read_rows, trim_parts
from .texts import read_texts

if TYPE_CHECKING:
    from .connections import Reply


class Call(Protocol):
    """Calls a function of the database for one tenant."""

    def __call__(self, function: str, /, *arguments: Any) -> Awaitable[Reply]:
        """Return what it returns."""
        ...


async def read_session(
    call: Call, session_id: str, after: int, until: int | None
) -> list[StoredEvent]:
    """Return the events of a session behind a number and up to another, checked.

    Raises:
        UnknownSessionError: It is not stored.
        DamagedSessionError: They are not what was written.
    """
    try:
        return await _read(call, session_id, after, until)
    except DamagedSessionError:
        # It may have been deleted meanwhile.
        await find_chain(call, session_id)
        raise


async def find_chain(call: Call, session_id: str) -> tuple[SessionInfo, list[Any]]:
    """Return a session, and the rows of it and of those that it is a fork of.

    Raises:
        UnknownSessionError: It is not stored.
    """
    chain = (await call("find_session", session_id)).rows
    if not chain:
        raise UnknownSessionError(session_id)
    return read_info(chain[0]), chain


async def _read(call: Call, session_id: str, after: int, until: int | None) -> list[StoredEvent]:
    async def find_texts(names: list[str]) -> Mapping[str, bytes]:
        found = await call("read_texts", chain[0]["tree"], names)
        return {row["hash"]: row["content"] for row in found.rows}

    info, chain = await find_chain(call, session_id)
    last = info.head if until is None else min(until, info.head)
    parts = trim_parts(list_parts(chain, last), after)
    columns = [each.number for each in parts], [each.first for each in parts]
    lasts = [each.last for each in parts]
    rows = (await call("read_events", *columns, lasts)).rows if parts else []
    events = read_rows(parts, rows, await read_texts(rows, find_texts))
    if until is None:
        if not after:
            check_row(info, events[info.base_number :])
        last_stored = chain[0]["last_seq"]
        if last_stored is not None and last_stored > info.head:
            problem = f"the session ends at event {info.head}, and there are more"
            raise DamagedSessionError(info.id, info.head, problem)
    return events
