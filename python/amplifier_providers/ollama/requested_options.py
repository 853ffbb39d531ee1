"""What a request asks for, as far as a server of Ollama has a field for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.message_models import ChatRequest, Degradation, Message

from ..requests.requested_thinking import BY_ITSELF, RequestedThinking, requested_thinking
from ..wire.fields import fields_of
from ..wire.options import (
    asked_length,
    format_instructions,
    note_unsent_choice,
    unknown_choice,
)
from .config import PROVIDER, OllamaConfig
from .models import ModelFacts

_LEVELS = {
    "minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high",
    "max": "high",
}  # fmt: skip

Notes = list[tuple[str, str, str]]
"""What is not done as requested: what was requested, what is done, and why."""


def think_value(
    asked: RequestedThinking, facts: ModelFacts, model: str, limit: int | None
) -> tuple[bool | str | None, Notes]:
    """Return the value of `think`, None for no such field; and what is not done as requested.

    A model that cannot think refuses the field, so it is sent only where the server says that it
    can.

    Args:
        asked: How much thinking is asked for.
        facts: What is known of the model.
        model: Its name.
        limit: The tokens of the answer, if the caller or a setting names them.
    """
    can_think = facts.can_do("thinking")
    if asked.is_off:
        if can_think is None:
            reason = f"the server does not say whether `{model}` can think"
            return None, [("no thinking", BY_ITSELF, reason)]
        if can_think and facts.has_levels:
            return "low", [("no thinking", "little thinking", f"`{model}` always thinks")]
        return (False if can_think else None), []
    if not asked.is_asked:
        is_stopped = can_think and not facts.has_levels and not asked.has_room(limit)
        return (False if is_stopped else None), []
    requested = f"reasoning effort `{asked.effort}`" if asked.effort else "thinking"
    if not can_think:
        reason = f"`{model}` cannot think"
        if can_think is None:
            reason = f"the server does not say whether `{model}` can think"
        return None, [(requested, BY_ITSELF, reason)]
    notes: Notes = []
    if asked.budget_tokens is not None:
        budget = f"a thinking budget of {asked.budget_tokens:,} tokens"
        notes.append((budget, "no limit of its own", f"`{model}` takes no budget"))
    if not facts.has_levels:
        if asked.effort:
            notes.append((requested, "thinking", f"`{model}` has no levels of thinking"))
        return True, notes
    level = _LEVELS.get(asked.effort or "medium", "medium")
    if asked.effort not in (None, level):
        notes.append((requested, f"`{level}`", f"`{model}` knows `low`, `medium` and `high`"))
    return level, notes


@dataclass
class RequestedOptions:
    """A request without what no field says, and how the model is asked to think."""

    request: ChatRequest
    thinking: RequestedThinking = field(default_factory=RequestedThinking)
    """How much thinking is asked for."""
    think: bool | str | None = None
    """The value of `think`; None for no such field."""
    degradations: list[Degradation] = field(default_factory=list[Degradation])
    """What is not done as requested."""

    def degrade(self, requested: str, actual: str, reason: str) -> None:
        """Note that something is not done as requested."""
        self.degradations.append(Degradation(requested=requested, actual=actual, reason=reason))


def read_options(
    request: ChatRequest,
    options: Mapping[str, Any],
    config: OllamaConfig,
    facts: ModelFacts,
    model: str,
) -> RequestedOptions:
    """Return what is asked of a model.

    Args:
        request: What is wanted.
        options: Keywords of the call.
        config: The settings.
        facts: What is known of the model.
        model: Its name.

    Raises:
        InvalidRequestError: An option has no meaning here.
    """
    wishes = RequestedOptions(request)
    _choose_tools(wishes, model)
    _ask_in_words(wishes, model)
    asked = requested_thinking(options, request.reasoning_effort, config, provider=PROVIDER)
    limit = asked_length(options, request, config, PROVIDER)
    wishes.thinking = asked
    wishes.think, notes = think_value(asked, facts, model, limit)
    for note in notes:
        wishes.degrade(*note)
    return wishes


def _choose_tools(wishes: RequestedOptions, model: str) -> None:
    """Offer only the tools that may be called: no field says which, or whether one must be."""
    request = wishes.request
    tools, choice = list(request.tools or ()), request.tool_choice
    if choice is None:
        return
    if not tools:
        note_unsent_choice(wishes, choice)
        wishes.request = request.model_copy(update={"tool_choice": None})
        return
    names = [str(fields_of(tool).get("name")) for tool in tools]
    match choice:
        case "auto" | {"type": "auto"}:
            pass
        case "none" | {"type": "none"}:
            tools = []
        case "any" | "required" | {"type": "any" | "required"}:
            wishes.degrade("a tool call", "a free choice", "Ollama has no field for it")
        case (
            str(name)
            | {"type": "tool", "name": str(name)}
            | {"type": "function", "name": str(name)}
            | {"function": {"name": str(name)}}
        ) if name in names:
            tools = [tools[names.index(name)]]
            wishes.degrade(
                f"a call of `{name}`", "an offer of this tool alone", "Ollama has no field for it"
            )
        case _:
            raise unknown_choice(choice, names, PROVIDER, model)
    wishes.request = request.model_copy(update={"tools": tools or None, "tool_choice": None})


def _ask_in_words(wishes: RequestedOptions, model: str) -> None:
    """Ask in words for the form of an answer where holding the model to it would exclude calls."""
    request = wishes.request
    wanted = request.response_format
    if wanted is None or wanted.type == "text" or not request.tools:
        return
    wishes.degrade(
        f"response format {wanted.type}",
        "plain text",
        f"`{model}` could call no tool; it is asked for it in words",
    )
    instruction = Message(role="system", content=format_instructions(wanted))
    changes = {"messages": [*request.messages, instruction], "response_format": None}
    wishes.request = request.model_copy(update=changes)
