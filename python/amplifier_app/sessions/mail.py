"""Looks for what other processes ask of a conversation of the command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

_LOOK_SECONDS = 0.5


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

    async def watch() -> None:
        while conversation.journal is None or not conversation.journal.is_stored:  # noqa: ASYNC110 -- nothing says when it is
            await asyncio.sleep(_LOOK_SECONDS)
        from amplifier_modules.stores.mail import SessionMail  # late: not for the first prompt

        await SessionMail(lambda: conversation.journal, stop, release, run_queued).watch()

    return asyncio.create_task(watch())
