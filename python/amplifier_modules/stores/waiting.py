"""How those who look at a session again and again wait: until a store tells them, or for a while."""

from __future__ import annotations

from typing import Any

from amplifier_core import world

from .store import Store


async def wait_for_events(store: Store, session_id: str, seconds: float) -> None:
    """Return when a session may have new events, or after these seconds at the latest."""
    await _wait(store, "wait_for_events", session_id, seconds)


async def wait_for_entries(store: Store, session_id: str, seconds: float) -> None:
    """Return when its inbox may have new entries, or after these seconds at the latest."""
    await _wait(store, "wait_for_entries", session_id, seconds)


async def _wait(store: Store, method: str, session_id: str, seconds: float) -> None:
    # A store need not have it.
    wait: Any = getattr(store, method, None)
    if wait is None:
        await world.sleep(seconds)
    else:
        await wait(session_id, seconds)
