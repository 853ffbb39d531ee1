"""`/goal`."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line
from amplifier_app.line_input.candidate import Candidate

_OFF = ("off", "none", "clear")
"""What it is followed by where it ends the goal."""


def _sets_goal(argument: str) -> bool:
    return argument.lower() not in ("", *_OFF)


async def _pursue(context: CommandContext, argument: str) -> Shown:
    if _sets_goal(argument):
        await context.turns.pursue(argument)
        return ()
    goal = context.turns.goal
    if goal is None:
        return ["there is no goal; `/goal TEXT` sets one"]
    if not argument:
        return [show_line(f"the goal is: {goal}")]
    context.turns.goal = None
    return ["the goal is withdrawn"]


def _complete_goal(context: CommandContext, _: str) -> Iterator[Candidate]:
    if context.turns.goal is not None:
        yield Candidate("off", "withdraw the goal")


GOAL = Command(
    name="/goal",
    usage="[TEXT | off]",
    brief="work until it is reached",
    about="Work until a goal is reached; alone, show it; `/goal off` withdraws it.",
    group=Group.MODEL,
    run=_pursue,
    waits=_sets_goal,
    complete=_complete_goal,
)
