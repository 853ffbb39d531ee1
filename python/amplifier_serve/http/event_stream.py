"""A session as a stream of server-sent events: each has its number as `id`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import anyio

from amplifier_core import world
from amplifier_modules.stores import StoreError
from amplifier_modules.stores.json_text import write_json

from ..sessions import LOOK_SECONDS, Sessions
from ..views import SessionEvent

KEEP_ALIVE_SECONDS = 15.0
"""After so long without an event a comment is sent, so that nobody takes the stream for dead."""
_MAX_LOOK_SECONDS = 2.0
_SHARE = 10


async def write_stream(
    sessions: Sessions, session_id: str, since: int, ended: anyio.Event
) -> AsyncGenerator[bytes]:
    """Yield the events behind a number and those that follow, until the server ends.

    Args:
        sessions: The sessions.
        session_id: One of them, as was checked.
        since: The number of the last event that the client knows.
        ended: Is set when the server ends.
    """
    yield b": events\n\n"
    spoken = world.monotonic()
    while not ended.is_set():
        began = world.monotonic()
        try:
            events = await sessions.read_new(session_id, since)
        except StoreError:
            return  # whoever connects again gets the reason
        for event in events:
            yield _write_event(event)
            since = event.number
        now = world.monotonic()
        if events:
            spoken = now
        elif now - spoken >= KEEP_ALIVE_SECONDS:
            yield b": still here\n\n"
            spoken = now
        # A long session is looked at less often, as that takes longer.
        with anyio.move_on_after(max(LOOK_SECONDS, min((now - began) * _SHARE, _MAX_LOOK_SECONDS))):
            await ended.wait()


def _write_event(event: SessionEvent) -> bytes:
    data = write_json(event.data)
    if not data.isascii():
        # Readers may end lines at characters of other alphabets.
        data = json.dumps(json.loads(data), separators=(",", ":"))
    return f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n".encode()
