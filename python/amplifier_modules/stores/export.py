"""Sessions as lines of JSON, out of one store and into another.

    {"format": "amplifier-session", "version": 1, "id": "…", "parent": null, "call": null, "meta": {…}}
    {"number": 1, "epoch": 1, "kind": "session:origin", "body": {…}}
    …

The sub-agents of a session follow it, each with such a first line of its own. A fork is a session like
any other: what it has of its origin is among its events. The bodies are those of the store, with its
one escape for what JSON cannot hold.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import anyio

from amplifier_core import world

from .errors import UnknownSessionError
from .json_text import read_json, write_json
from .store import META, ORIGIN, Claim, Event, NewSession, SessionInfo, Store, StoredEvent
from .stored_history import read_history

_FORMAT = "amplifier-session"
_VERSION = 1
_EVENTS_AT_ONCE = 500
_OWNER = "import"


async def export_session(
    store: Store, session_id: str, *, until: int | None = None
) -> AsyncGenerator[str]:
    """Yield a session and its sub-agents as lines without line breaks.

    Args:
        store: Where it is stored.
        session_id: Its id.
        until: Leave out the events behind this number, and the sub-agents; None for all.

    Raises:
        UnknownSessionError: It is not stored.
        DamagedSessionError: An event is not what was written; those before it were not yielded.
    """
    infos = await store.sessions()
    waiting = [session_id]
    while waiting:
        id = waiting.pop(0)
        events = await store.read(id, until=until)
        info = next((each for each in infos if each.id == id), None)
        yield write_json(_describe(id, info))
        for event in events:
            yield write_json(event._asdict())
        if until is None:
            waiting += [each.id for each in infos if each.parent == id]


@dataclass(slots=True)
class ExportedSession:
    """A session as its lines tell it."""

    id: str
    parent: str | None
    call: str | None
    meta: Mapping[str, Any]
    events: list[StoredEvent] = field(default_factory=list[StoredEvent])


def read_export(lines: Iterable[str]) -> list[ExportedSession]:
    """Return the sessions of an export.

    Raises:
        ValueError: The lines are none; it names the line.
    """
    sessions: list[ExportedSession] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = read_json(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise ValueError(f"line {number} is no object (must be an object of an export)")  # noqa: TRY004
        fields = cast("dict[str, Any]", value)
        if "format" in fields:
            sessions.append(_read_head(number, fields))
        elif not sessions:
            raise ValueError(
                f"line {number} does not begin a session (must have `format`, `{_FORMAT}`)"
            )
        else:
            sessions[-1].events.append(_read_event(number, fields, len(sessions[-1].events) + 1))
    if not sessions:
        raise ValueError("there is no line (must be an export of a session)")
    for session in sessions:
        _check_events(session)
    return sessions


async def import_sessions(store: Store, sessions: Sequence[ExportedSession]) -> list[str]:
    """Add the sessions of an export to a store, all of them or none; return their ids.

    Raises:
        SessionExistsError: The store has a session of one of the ids.
        StoreError: The store cannot be written.
    """
    added: list[str] = []
    try:
        for session in sessions:
            new = NewSession(
                parent=session.parent if session.parent in added else None,
                call=session.call if session.parent in added else None,
                meta=session.events[0].body["meta"],
            )
            claim = await store.claim(session.id, _OWNER, new=new)
            added.append(session.id)
            await store.end(await _add_events(store, claim, session))
    except BaseException:
        with anyio.CancelScope(shield=True):
            for id in added:
                with suppress(UnknownSessionError):  # as a sub-agent of one that was deleted
                    await store.delete(id)
        raise
    return added


def give_new_ids(sessions: Sequence[ExportedSession]) -> list[ExportedSession]:
    """Return the sessions under ids that no session has; the keys of their calls stay."""
    ids = {session.id: str(world.new_uuid()) for session in sessions}
    return [
        replace(each, id=ids[each.id], parent=ids.get(each.parent or "", each.parent))
        for each in sessions
    ]


async def _add_events(store: Store, claim: Claim, session: ExportedSession) -> Claim:
    waiting: list[Event] = []
    meta: Any = session.events[0].body["meta"]
    # The store has written the first one itself.
    for event in session.events[1:]:
        if event.kind == META:
            meta = event.body
            claim = await store.append(claim, waiting, meta=meta)
            waiting = []
            continue
        waiting.append((event.kind, event.body))
        if len(waiting) == _EVENTS_AT_ONCE:
            claim = await store.append(claim, waiting)
            waiting = []
    # That of a fork is its own.
    return await store.append(claim, waiting, meta=None if meta == session.meta else session.meta)


def _describe(id: str, info: SessionInfo | None) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "id": id,
        "parent": None if info is None else info.parent,
        "call": None if info is None else info.call,
        "meta": {} if info is None else dict(info.meta),
    }


def _read_head(number: int, fields: Mapping[str, Any]) -> ExportedSession:
    if fields["format"] != _FORMAT:
        raise ValueError(f"line {number} has the format `{fields['format']}` (must be `{_FORMAT}`)")
    if fields.get("version") != _VERSION:
        raise ValueError(
            f"line {number} has version {fields.get('version')}, and this one reads {_VERSION}"
        )
    id, meta = fields.get("id"), fields.get("meta")
    parent, call = fields.get("parent"), fields.get("call")
    if not isinstance(id, str) or not id or not isinstance(meta, dict):
        raise ValueError(f"line {number} has no `id` and `meta` (must be a text and an object)")
    if not isinstance(parent, str | None) or not isinstance(call, str | None):
        raise ValueError(f"line {number} has a `parent` or a `call` that is no text")  # noqa: TRY004
    return ExportedSession(id, parent, call, cast("dict[str, Any]", meta))


def _read_event(number: int, fields: Mapping[str, Any], expected: int) -> StoredEvent:
    kind, epoch = fields.get("kind"), fields.get("epoch")
    if fields.get("number") != expected:
        raise ValueError(
            f"line {number} has event {fields.get('number')} (must be {expected}: none is left out)"
        )
    if not isinstance(kind, str) or not isinstance(epoch, int) or "body" not in fields:
        raise ValueError(f"line {number} has no `kind`, `epoch` and `body`")
    return StoredEvent(expected, epoch, kind, fields["body"])


def _check_events(session: ExportedSession) -> None:
    """Refuse events that no session could go on with."""
    first = session.events[0] if session.events else None
    body: Any = None if first is None or first.kind != ORIGIN else first.body
    meta: Any = cast("dict[str, Any]", body).get("meta") if isinstance(body, dict) else None
    if not isinstance(meta, dict):
        raise ValueError(f"session `{session.id}` has no first event that says its `meta`")  # noqa: TRY004
    try:
        read_history(session.events)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ValueError(
            f"session `{session.id}` has an event that is none: {type(error).__name__}: {error}"
        ) from None
