"""`/model`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

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
from amplifier_app.failure import Failure
from amplifier_app.line_input.candidate import Candidate


async def _use_model(context: CommandContext, name: str) -> Shown:
    turns = context.turns
    if not name:
        return [show_line(f"the model is {model_name(turns.order, turns.answering)}")]
    try:
        await turns.use_model(name)
    except Failure as failure:  # its words are those of the command line
        message = str(failure).replace("`--model ", "`/model ")
        hint = (failure.hint or "").replace("`--model ", "`/model ")
        hint = hint.replace("leave `--model` out to ask", "`/model demo` asks")
        raise Failure(message, hint=hint, exit_code=failure.exit_code) from failure
    return [show_line(f"`{name}` answers from now on")]


async def _complete_models(context: CommandContext, _: str) -> AsyncIterator[Candidate]:
    """Yield the models that are known, then those that the services name, of who can answer."""
    turns = context.turns
    answering = turns.answering.provider
    now = f"{answering.name}:{turns.order.model or answering.model}"
    able = [
        each
        for each in PROVIDERS.values()
        if each is answering or (each.model and each.has_key(os.environ))
    ]
    offered: set[str] = set()

    def offer(name: str) -> Iterator[Candidate]:
        if name not in offered:
            offered.add(name)
            yield Candidate(name, "answers now" if name in (now, answering.name) else "")

    for provider in able:
        if provider is DEMO or provider.model:
            usual = provider.name if provider is DEMO else f"{provider.name}:{provider.model}"
            for each in offer(usual):
                yield each
    found = await context.models.find(each for each in able if each is not DEMO)
    for provider, models in found.items():
        for model in models:
            for each in offer(show_line(f"{provider}:{model}")):
                yield each


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
