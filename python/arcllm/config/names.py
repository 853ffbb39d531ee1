"""Names of providers and models."""

from __future__ import annotations

import re

from amplifier_core.error_messages import short_repr
from amplifier_providers.value_problems import shown_key

from ..exceptions import ArcLLMConfigError

MAX_CHARS = 64
"""Characters of the name of a provider at most."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def is_name(name: str) -> bool:
    """Whether this can be the name of a provider."""
    return len(name) <= MAX_CHARS and _NAME.fullmatch(name) is not None


def name_rule(name: object) -> str:
    """Return what is wrong with the name of a provider."""
    rule = f"small letters, digits and `_`, a letter first, at most {MAX_CHARS} characters"
    return f"`{shown_key(name)}` is not the name of a provider ({rule})"


def split_target(provider: str, model: str | None) -> tuple[str, str | None]:
    """Return a provider and its model, which may be written in one, as `provider:model`.

    Raises:
        ArcLLMConfigError: One of them cannot be meant.
    """
    if not isinstance(provider, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        raise ArcLLMConfigError(name_rule(provider))
    if model is not None and (not isinstance(model, str) or not model.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArcLLMConfigError(
            f"`model` is {short_repr(model)} (must be the name of a model, or None)"
        )
    name, colon, rest = provider.partition(":")
    if not colon:
        return name, model
    if model is not None:
        raise ArcLLMConfigError(
            f"two models are named: in {short_repr(provider)} and by `model={short_repr(model)}`"
        )
    if not rest.strip():
        raise ArcLLMConfigError(f"{short_repr(provider)} names no model (must be `provider:model`)")
    return name, rest
