"""Whether a model is asked to think: by a switch, or by a level where it has levels."""

from __future__ import annotations

from ..requests.requested_thinking import BY_ITSELF, RequestedThinking
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
    can_think = facts.can("thinking")
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
