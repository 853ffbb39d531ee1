"""`/quit`."""

from __future__ import annotations

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown


def _end(context: CommandContext, _: str) -> Shown:
    context.lines.end()
    return ()


QUIT = Command(
    name="/quit",
    brief="end",
    about="End the conversation; Ctrl+D does the same. It is stored, and can go on later.",
    group=Group.SESSION,
    run=_end,
)
