"""The process in the background: the turn that was left open, then what is queued."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, NoReturn

from amplifier_app.commands.conversation import Conversation
from amplifier_app.commands.model_choice import find_answering_provider, require_engine
from amplifier_app.commands.turn import Turn
from amplifier_app.failure import report
from amplifier_app.interrupt import leave
from amplifier_app.plain_output import PlainOutput
from amplifier_app.sessions.mail import watch_mail

if TYPE_CHECKING:
    from amplifier_app.commands.order import Order


def work_off(order: Order) -> int:
    """Run the turns of a session until none waits; returns the exit code of the last one."""
    from amplifier_app.lazy_trio import import_httpcore

    require_engine()
    import_httpcore()
    return asyncio.run(_work_off(order))


async def _work_off(order: Order) -> int:
    assert order.stored is not None
    with open(  # noqa: ASYNC230 -- nothing waits there
        os.devnull, "w", encoding="utf-8"
    ) as nowhere:
        conversation = Conversation(
            order,
            find_answering_provider(order),
            PlainOutput(nowhere),
            session_id=order.stored.id,
            keeps_questions=True,
        )
        turn: Turn | None = None
        is_released = False

        def release() -> None:
            nonlocal is_released
            is_released = True

        mail = watch_mail(conversation, lambda: turn, release)
        exit_code, goes_on = 0, order.stored.has_open_turn
        try:
            while goes_on or (not is_released and await conversation.has_queued()):
                turn = Turn(conversation, None, _leave, is_queued=not goes_on)
                goes_on = False
                with turn.interruption.listen_to_signals():
                    outcome = await turn.end()
                exit_code = outcome.exit_code
                if turn.problem is not None:
                    report(turn.problem)
                if turn.is_stuck:
                    leave(exit_code)
                if exit_code > 128 + 2 or outcome.status == "error":  # it was told to end
                    break
        finally:
            mail.cancel()
            await conversation.close()
        return exit_code


def _leave(exit_code: int) -> NoReturn:
    leave(exit_code)
