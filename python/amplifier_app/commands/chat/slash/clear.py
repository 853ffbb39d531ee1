"""`/clear`."""

from __future__ import annotations

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, wait_always


async def _clear(context: CommandContext, _: str) -> Shown:
    await context.turns.clear()
    return ["a new conversation begins"]


CLEAR = Command(
    name="/clear",
    brief="new conversation",
    about="Begin a new conversation.",
    group=Group.SESSION,
    run=_clear,
    waits=wait_always,
)
