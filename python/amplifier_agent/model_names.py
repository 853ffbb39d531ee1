"""Names of models: whose they are, and what is meant where one is taken for a provider."""

from __future__ import annotations

import re

from amplifier_modules import MODULES
from amplifier_providers.anthropic.models import model_profile as claude_profile
from amplifier_providers.openai_chat.presets import PRESETS
from amplifier_providers.requests.openai_models import model_profile as openai_profile

_PREFIX = "provider-"
_FINE_TUNED = "ft:"
"""How names of models begin that OpenAI has trained further."""
_TAG = re.compile(r"(latest|[a-z]?\d+(x\d+)?(\.\d+)?[bm])([-_.][\w.-]*)?", re.IGNORECASE)
"""What follows the colon in names of Ollama: the size of a model, such as `8b` or `8x7b-instruct`."""


def has_ollama_tag(text: str) -> bool:
    """Whether a text is a name as Ollama writes it, such as `llama3:8b`."""
    name, colon, tag = text.rpartition(":")
    return bool(name and colon and _TAG.fullmatch(tag))


def has_colon(model: str) -> bool:
    """Whether a text with a colon is the name of a model, and not of a provider and its model."""
    return has_ollama_tag(model) or model.startswith(_FINE_TUNED)


def provider_of_model(model: str) -> str | None:
    """Return the provider that is known to have a model; None if the name says nothing."""
    if has_ollama_tag(model):
        return "ollama"
    if "/" in model:
        return "openrouter"  # has the models of others under their names
    if claude_profile(model).is_known:
        return "anthropic"
    if openai_profile(model).is_known:
        return "openai"
    for preset in PRESETS.values():
        if preset.families and model.lower().startswith(preset.families):
            return preset.name
    return None


def provider_names() -> list[str]:
    """Return the names of our providers."""
    return [each.removeprefix(_PREFIX) for each in MODULES if each.startswith(_PREFIX)]


def similar_provider(name: str) -> str | None:
    """Return the provider whose name is nearly this."""
    from difflib import get_close_matches  # late: few programs have a mistake

    return next(iter(get_close_matches(name.lower(), provider_names(), n=1, cutoff=0.75)), None)


def unknown_provider(text: str) -> str:
    """Say that a model is of no provider, and what may be meant.

    Args:
        text: What was given as `provider`, or as `provider:model`.
    """
    name, _, model = text.partition(":")
    problem = f"there is no provider `{name}`"
    if (not model or has_colon(text)) and (owner := provider_of_model(text)) is not None:
        return f"{problem}; did you mean the model `{owner}:{text}`?"
    if (similar := similar_provider(name)) is not None:
        return f"{problem}; did you mean `{f'{similar}:{model}' if model else similar}`?"
    if model and (owner := provider_of_model(model)) is not None:
        return f"{problem}; did you mean `{owner}:{model}`?"
    known = ", ".join(f"`{each}`" for each in provider_names())
    return (
        f"{problem}; there are {known}; any other service with Chat Completions is"
        " `provider-openai-chat` with its `base_url` in a plan"
    )
