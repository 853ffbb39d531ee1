"""How processes tell each other which sessions have changed: LISTEN and NOTIFY.

What gets lost is noticed by those who look again after a while.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from .failures import FAILED

_COLLECT_SECONDS = 0.05
"""How long changes are collected that are told of together.

They are not told of in the transaction that makes them: the server would commit all of those one
after the other.
"""
_KEY_CHARS = 16
_MOST_KEYS = 400
"""A notification has at most 8,000 bytes."""


def make_key(kind: str, tenant: str, session_id: str) -> str:
    """Return what a change is called in notifications, which everybody can read.

    Args:
        kind: What has changed.
        tenant: Whose session.
        session_id: Its id.
    """
    return hashlib.sha256(f"{kind}\0{tenant}\0{session_id}".encode()).hexdigest()[:_KEY_CHARS]


class Listening:
    """Tells of changes, and waits for those of others; used in the thread of one event loop."""

    def __init__(
        self,
        call: Callable[[str, Sequence[Any]], Awaitable[object]],
        connect: Callable[[], Awaitable[Any]],
        schema: str,
        *,
        can_listen: bool,
    ) -> None:
        """Listen to nothing yet.

        Args:
            call: Runs a statement, by which it tells.
            connect: Opens the one that listens.
            schema: The schema, which is the name of the channel.
            can_listen: Whether there is no pooler in between.
        """
        self._call = call
        self._connect = connect
        self._channel = schema
        self._can_listen = can_listen
        self._changed: set[str] = set()
        self._telling: asyncio.Task[None] | None = None
        self._listener: Any = None
        self._joining: asyncio.Task[None] | None = None
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def note_change(self, key: str) -> None:
        """Tell soon that a session has changed."""
        self._changed.add(key)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def wait(self, key: str, seconds: float) -> None:
        """Return when a session has changed, or after these seconds."""
        changed = asyncio.Event()
        is_joined = self._listener is not None and not self._listener.is_closed()
        is_joining = self._joining is not None and not self._joining.done()
        if self._can_listen and not is_joined and not is_joining:
            # By a task of its own, which goes on where this wait is over first.
            self._joining = asyncio.create_task(self._join())
        self._waiting.setdefault(key, set()).add(changed)
        try:
            async with asyncio.timeout(seconds):
                await changed.wait()
        except TimeoutError:
            pass
        finally:
            events = self._waiting[key]
            events.discard(changed)
            if not events:
                del self._waiting[key]

    async def close(self) -> None:
        """Tell of what is left, and listen no more; nobody waits any longer."""
        for events in self._waiting.values():
            for changed in events:
                changed.set()
        for task in (self._telling, self._joining):
            if task is not None:
                with suppress(asyncio.CancelledError):
                    await task
        if self._listener is not None:
            with suppress(*FAILED):
                await self._listener.close(timeout=1)
            self._listener = None

    async def _join(self) -> None:
        with suppress(*FAILED):  # whoever calls a function next says what is wrong
            self._listener = await self._connect()
            await self._listener.add_listener(self._channel, self._receive)

    def _receive(self, _connection: Any, _process: int, _channel: str, told: str) -> None:
        for key in told.split():
            for changed in self._waiting.get(key, ()):
                changed.set()

    async def _tell(self) -> None:
        while self._changed:
            await asyncio.sleep(_COLLECT_SECONDS)
            some = [self._changed.pop() for _ in range(min(_MOST_KEYS, len(self._changed)))]
            with suppress(*FAILED):
                await self._call("SELECT pg_notify($1, $2)", (self._channel, " ".join(some)))
