"""A session that another process has open: it is asked to give it back, or is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amplifier_app.notice import show_notice
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.process import find_process
from amplifier_core import world

if TYPE_CHECKING:
    from amplifier_modules.stores import Store

LEASE_SECONDS = 10.0
"""A process that does not answer for so long loses the session."""
_LOOK_SECONDS = 0.2


def take_over(session_id: str, process: int, entry: Mapping[str, Any] | None) -> None:
    """Wait until a process has given a session back, has ended, or does not answer.

    Args:
        session_id: The session.
        process: Who has it open.
        entry: The store; None for the usual one.

    Raises:
        Failure: The store cannot be used.
    """
    show_notice(f"asks process {process} for the session, which it gives back after its turn")
    if not run_on_store(lambda store: _wait(store, session_id), entry):
        show_notice(f"process {process} does not answer: it writes nothing to it from now on")


async def _wait(store: Store, session_id: str) -> bool:
    """Return whether the process has given the session back, or ended."""
    from amplifier_modules.stores.inbox import RELEASE

    number = await store.put(session_id, RELEASE, {})
    end, is_asked = world.monotonic() + LEASE_SECONDS, True
    while True:
        info = next((each for each in await store.sessions() if each.id == session_id), None)
        if info is None or find_process(info) is None:
            return True
        if is_asked:
            is_asked = number in [each.id for each in await store.inbox(session_id)]
            if is_asked and world.monotonic() > end:
                return False
        await asyncio.sleep(_LOOK_SECONDS)
