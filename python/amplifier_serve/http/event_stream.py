"""A session as a stream of server-sent events: each has its number as `id`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import anyio

from amplifier_core import world
from amplifier_modules.stores import StoreError
from amplifier_modules.stores.json_text import write_json

from ..sessions import Sessions
from ..views import SessionEvent

KEEP_ALIVE_SECONDS = 15.0
"""After so long without an event a comment is sent, so that nobody takes the stream for dead."""


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
        await _wait(sessions, session_id, now - began, ended)


async def _wait(sessions: Sessions, session_id: str, took: float, ended: anyio.Event) -> None:
    """Return when there may be new events, or the server ends."""
    async with anyio.create_task_group() as tasks:

        async def wait_for_end() -> None:
            await ended.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(wait_for_end)
        await sessions.wait_for_events(session_id, took)
        tasks.cancel_scope.cancel()


def _write_event(event: SessionEvent) -> bytes:
    data = write_json(event.data)
    if not data.isascii():
        # Readers may end lines at characters of other alphabets.
        data = json.dumps(json.loads(data), separators=(",", ":"))
    return f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n".encode()
