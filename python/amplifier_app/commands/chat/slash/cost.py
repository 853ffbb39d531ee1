"""`/cost`."""

from __future__ import annotations

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line


def _show_cost(context: CommandContext, _: str) -> Shown:
    return list(map(show_line, context.turns.sums))


COST = Command(
    name="/cost",
    brief="tokens, dollars",
    about="Show the tokens so far, what they cost, and what was paid again.",
    group=Group.MODEL,
    run=_show_cost,
)
