"""What other processes ask of the session that is open here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from amplifier_core import world

from .errors import StoreError
from .inbox import RELEASE, STOP
from .waiting import wait_for_entries

LOOK_SECONDS = 0.5
"""How often a process looks for what others ask of its session."""


class SessionMail:
    """Looks into the inbox of the session again and again.

    Args:
        find_journal: Returns the journal of the session; None while nothing of it is stored.
        stop: Ends the turn that runs, as Ctrl+C does; called with whether at once.
        release: Called when another process asks to go on with the session.
        run_queued: Called when prompts wait.
    """

    def __init__(
        self,
        find_journal: Callable[[], Any],
        stop: Callable[[bool], object],
        release: Callable[[], object] = lambda: None,
        run_queued: Callable[[], object] = lambda: None,
    ) -> None:
        self._find_journal = find_journal
        self._stop = stop
        self._release = release
        self._run_queued = run_queued

    async def watch(self) -> None:
        """Look until this is cancelled."""
        while True:
            journal = self._find_journal()
            if journal is None:
                await world.sleep(LOOK_SECONDS)
            else:
                await wait_for_entries(journal.store, journal.session_id, LOOK_SECONDS)
            with suppress(StoreError):  # whoever stores next says what is wrong
                await self.look()

    async def look(self) -> None:
        """Look once; nothing while the session is not stored.

        Raises:
            StoreError: The store cannot be used.
        """
        journal = self._find_journal()
        if journal is None or not journal.is_stored:
            return
        await journal.inbox.look()
        while (entry := journal.inbox.take_waiting(STOP)) is not None:
            # One that comes too late must not end the next turn.
            if entry.body["turn"] >= journal.turn_began:
                self._stop(entry.body["now"])
            await journal.store_arrival(entry)
        while (entry := journal.inbox.take_waiting(RELEASE)) is not None:
            await journal.store_arrival(entry)
            self._release()
        if journal.inbox.count_prompts():
            self._run_queued()
