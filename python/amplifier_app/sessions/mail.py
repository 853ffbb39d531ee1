"""What other processes ask of the session that is open here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_LOOK_SECONDS = 0.5


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
            await asyncio.sleep(_LOOK_SECONDS)
            journal = self._find_journal()
            if journal is not None and journal.is_stored:
                from amplifier_modules.stores import StoreError  # late: not for the first prompt

                with suppress(StoreError):  # whoever stores next says what is wrong
                    await self._look(journal)

    async def _look(self, journal: Any) -> None:
        from amplifier_modules.stores.inbox import RELEASE, STOP

        await journal.inbox.look()
        while (entry := journal.inbox.take_waiting(STOP)) is not None:
            # One that comes too late must not end the next turn.
            if entry.body["turn"] == journal.turn:
                self._stop(entry.body["now"])
            await journal.store_arrival(entry)
        while (entry := journal.inbox.take_waiting(RELEASE)) is not None:
            await journal.store_arrival(entry)
            self._release()
        if journal.inbox.count_prompts():
            self._run_queued()


def watch_mail(
    conversation: Any,
    find_turn: Callable[[], Any],
    release: Callable[[], object] = lambda: None,
    run_queued: Callable[[], object] = lambda: None,
) -> asyncio.Task[None]:
    """Look from now on, until the task that is returned is cancelled.

    Args:
        conversation: The session.
        find_turn: Returns the turn that runs; None for none.
        release: As for `SessionMail`.
        run_queued: As for `SessionMail`.
    """

    def stop(is_now: bool) -> None:
        if (turn := find_turn()) is not None:
            turn.interruption.press()
            if is_now and not turn.is_stopping:
                turn.interruption.press()

    mail = SessionMail(lambda: conversation.journal, stop, release, run_queued)
    return asyncio.create_task(mail.watch())
