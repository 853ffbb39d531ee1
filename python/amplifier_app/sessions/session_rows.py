"""Stored sessions as the rows of a picker."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from amplifier_app.known_secrets import SECRETS
from amplifier_app.printable import printable_line
from amplifier_app.sessions.age import write_age
from amplifier_app.sessions.choice import title_of
from amplifier_app.sessions.messages import list_messages, list_texts
from amplifier_app.sessions.picker import Picker, PickerRow, pick
from amplifier_providers.running.count_noun import count_noun

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store, StoredEvent

_MAX_SAID_CHARS = 40_000
_MAX_LINES = 60
_MAX_LINE_CHARS = 400
_LINES_OF_A_MESSAGE = 12


@dataclass(frozen=True)
class SessionDigest:
    """What a picker says of a session."""

    turns: int
    model: str
    said: str
    preview: tuple[str, ...]


def digest_events(events: Iterable[StoredEvent]) -> SessionDigest:
    """Return what is shown of a session, safe and without secrets."""
    from amplifier_core.events import EXECUTION_START, LLM_REQUEST
    from amplifier_modules.changes.undone import is_told
    from amplifier_modules.tools.added_folders import is_told_of_folder

    events = list(events)
    turns, model = 0, ""
    for event in events:
        if event.kind == EXECUTION_START and not event.body.get("goes_on"):
            turns += 1
        elif event.kind == LLM_REQUEST:
            model = str(event.body.get("model") or model)
    said: list[str] = []
    preview: list[str] = []
    for _, message in list_messages(events):
        role = message.get("role")
        text = "\n".join(list_texts(message)).strip()
        if (
            role not in ("user", "assistant")
            or not text
            or is_told(text)
            or is_told_of_folder(text)
        ):
            continue
        text = SECRETS.redact(text)
        said.append(text)
        mark = "> " if role == "user" else "  "
        lines = text.splitlines()[:_LINES_OF_A_MESSAGE]
        preview += [mark + printable_line(each, _MAX_LINE_CHARS) for each in lines]
    shown = printable_line(SECRETS.redact(model), 40)
    return SessionDigest(
        turns, shown, "\n".join(said)[-_MAX_SAID_CHARS:], tuple(preview[-_MAX_LINES:])
    )


def make_row(info: SessionInfo) -> PickerRow:
    """Return the row of a session of which nothing is read yet."""
    return PickerRow(SECRETS.redact(title_of(info)), write_age(info.written), said=info.id)


def fill_row(
    row: PickerRow, info: SessionInfo, digest: SessionDigest, state: str | None = None
) -> None:
    """Say more in a row."""
    marks = {"asks": "asks", "running": "runs", "open": "open", "unfinished": "not finished"}
    details = (
        write_age(info.written),
        digest.model,
        count_noun(digest.turns, "turn"),
        marks.get(state or "", ""),
    )
    row.details = " · ".join(each for each in details if each)
    row.said = f"{info.id}\n{digest.said}"
    row.preview = digest.preview


async def pick_session(
    infos: Sequence[SessionInfo], store: Store, terminal: TextIO
) -> SessionInfo | None:
    """Let a person choose a session; rows say more as the sessions are read.

    Args:
        infos: The sessions, newest first.
        store: Where they are stored.
        terminal: Where they are shown.
    """
    rows = [make_row(each) for each in infos]
    picker = Picker("Which session goes on?", rows, shows_end=True)
    reading = asyncio.create_task(_read_rows(picker, rows, infos, store))
    try:
        place = await pick(picker, terminal)
    finally:
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading
    return None if place is None else infos[place]


async def _read_rows(
    picker: Picker, rows: Sequence[PickerRow], infos: Sequence[SessionInfo], store: Store
) -> None:
    from amplifier_app.sessions.process import find_process
    from amplifier_app.sessions.state import find_state
    from amplifier_modules.stores import StoreError

    for row, info in zip(rows, infos, strict=True):
        try:
            digest = await asyncio.to_thread(digest_events, await store.read(info.id))
            state = await find_state(store, info, is_open=find_process(info) is not None)
        except StoreError:
            row.details = f"{row.details} · cannot be read"
        else:
            fill_row(row, info, digest, state)
        picker.refresh()
