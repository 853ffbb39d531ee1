"""Whether a model is asked to think: by a switch, or by a level where it has levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.message_models import ChatRequest, Degradation

from ..wire.options import asked_effort
from .config import OllamaConfig
from .models import ModelFacts

_LEVELS = {
    "minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high",
    "max": "high",
}  # fmt: skip
_BY_ITSELF = "what the model does by itself"


@dataclass(frozen=True)
class _NoSettings:
    reasoning: None = None
    reasoning_effort: None = None


def wanted_thinking(
    request: ChatRequest, options: Mapping[str, Any], config: OllamaConfig
) -> bool | str | None:
    """Return whether thinking is wanted, or with which effort; None if nobody says it."""
    switch: bool | None = options.get("extended_thinking")
    settings: Any = _NoSettings() if config.enable_thinking is False else config
    effort = asked_effort(options, request, settings)
    if switch is False or effort == "none":
        return False
    return effort or switch or config.enable_thinking


def think_value(
    wanted: bool | str | None, facts: ModelFacts, model: str
) -> tuple[bool | str | None, Degradation | None]:
    """Return the value of `think`, None for no such field; and what is not done as requested.

    A model that cannot think refuses the field, so it is sent only where the server says that it
    can.

    Args:
        wanted: Whether thinking is wanted, or with which effort.
        facts: What is known of the model.
        model: Its name.
    """
    if wanted is None or (wanted is False and not facts.can("thinking")):
        return None, None
    asked = f"reasoning effort `{wanted}`" if isinstance(wanted, str) else "thinking"
    if not facts.can("thinking"):
        reason = f"`{model}` cannot think"
        if facts.capabilities is None:
            reason = f"the server does not say whether `{model}` can think"
        return None, Degradation(requested=asked, actual=_BY_ITSELF, reason=reason)
    if not facts.has_levels:
        if not isinstance(wanted, str):
            return wanted, None
        reason = f"`{model}` has no levels of thinking"
        return True, Degradation(requested=asked, actual="thinking", reason=reason)
    if wanted is False:
        reason = f"`{model}` always thinks"
        return "low", Degradation(requested="no thinking", actual="little thinking", reason=reason)
    level = _LEVELS.get(wanted, "medium") if isinstance(wanted, str) else "medium"
    if wanted in (True, level):
        return level, None
    reason = f"`{model}` knows `low`, `medium` and `high`"
    return level, Degradation(requested=asked, actual=f"`{level}`", reason=reason)
