"""The conversation that a command looks at, which begins where none has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_app.failure import Failure

if TYPE_CHECKING:
    from amplifier_app.commands.chat.command import CommandContext
    from amplifier_app.commands.conversation import Conversation


async def open_conversation(context: CommandContext) -> Conversation:
    """Return the conversation; one that works is left alone.

    Raises:
        Failure: It is about to begin.
        Exception: What keeps a session from starting.
    """
    if context.turns.running is None:
        return await context.turns.begin()
    if context.turns.conversation is None:
        raise Failure("the session is about to begin", hint="try again")
    return context.turns.conversation
