"""`/model`."""

from __future__ import annotations

from amplifier_app.commands.chat.command import (
    Command,
    CommandContext,
    Group,
    Shown,
    show_line,
    wait_with_argument,
)
from amplifier_app.commands.model_choice import model_name


async def _use_model(context: CommandContext, name: str) -> Shown:
    turns = context.turns
    if not name:
        return [show_line(f"the model is {model_name(turns.order, turns.answering)}")]
    await turns.use_model(name)
    return [show_line(f"`{name}` answers from now on")]


MODEL = Command(
    name="/model",
    usage="[NAME]",
    brief="show or change the model",
    about="Show the model; with a name, use that one from now on, in the same conversation.",
    group=Group.MODEL,
    run=_use_model,
    waits=wait_with_argument,
)
