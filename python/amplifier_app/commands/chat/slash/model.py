"""`/model`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from amplifier_app.commands.chat.command import (
    Command,
    CommandContext,
    Group,
    Shown,
    show_line,
    wait_with_argument,
)
from amplifier_app.commands.model_choice import model_name
from amplifier_app.commands.provider_choice import DEMO, PROVIDERS
from amplifier_app.line_input.candidate import Candidate


async def _use_model(context: CommandContext, name: str) -> Shown:
    turns = context.turns
    if not name:
        return [show_line(f"the model is {model_name(turns.order, turns.answering)}")]
    await turns.use_model(name)
    return [show_line(f"`{name}` answers from now on")]


def _complete_models(context: CommandContext, _: str) -> Iterator[Candidate]:
    """Yield the models that are known without asking a service, of providers that can answer."""
    answering = context.turns.answering.provider
    for provider in PROVIDERS.values():
        if provider.model and (provider is answering or provider.has_key(os.environ)):
            name = provider.name if provider is DEMO else f"{provider.name}:{provider.model}"
            yield Candidate(name, "answers now" if provider is answering else "")


MODEL = Command(
    name="/model",
    usage="[NAME]",
    brief="show or change the model",
    about="Show the model; with a name, use that one from now on, in the same conversation.",
    group=Group.MODEL,
    run=_use_model,
    waits=wait_with_argument,
    complete=_complete_models,
)
