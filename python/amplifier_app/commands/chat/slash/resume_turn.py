"""`/continue`."""

from __future__ import annotations

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, wait_always


async def _resume(context: CommandContext, _: str) -> Shown:
    await context.turns.run(None)
    return ()


CONTINUE = Command(
    name="/continue",
    brief="finish an open turn",
    about="Go on with a turn that was not finished.",
    group=Group.SESSION,
    run=_resume,
    waits=wait_always,
)
