"""The effort to ask a model of OpenAI for, over either of its APIs."""

from __future__ import annotations

from .openai_models import ModelProfile
from .requested_thinking import BY_ITSELF
from .wire.body import WireRequest

_USUAL_EFFORT = "medium"
"""The effort of who asks for thinking, and not for how much."""


def effort_for(encoded: WireRequest, profile: ModelProfile, *, is_free: bool) -> str | None:
    """Return the effort to ask a model for, None for no such field; note what is not done as asked.

    Args:
        encoded: The request, with how much thinking is asked for.
        profile: What the model can do.
        is_free: Whether thinking that nobody asked for may take place.
    """
    asked = encoded.thinking
    if asked.budget_tokens is not None and (profile.reasons or not profile.is_known):
        requested = f"a thinking budget of {asked.budget_tokens:,} tokens"
        encoded.degrade(
            requested, "no limit of its own", f"`{encoded.model}` takes an effort alone"
        )
    if asked.is_off:
        return _least_effort(encoded, profile)
    if asked.is_asked and profile.is_known and not profile.reasons:
        encoded.degrade("reasoning", "no reasoning", f"`{encoded.model}` does not reason")
        return None
    if asked.effort:
        effort = profile.fitting_effort(asked.effort)
        if effort != asked.effort:
            encoded.degrade(
                f"reasoning effort `{asked.effort}`", f"`{effort}`", _efforts(encoded, profile)
            )
        return effort
    if asked.is_asked:
        if not profile.is_known:
            encoded.degrade(
                "thinking", BY_ITSELF, f"it is not known whether `{encoded.model}` can think"
            )
        # What can be turned off may be off without a word.
        return _USUAL_EFFORT if profile.can_stop else None
    return "none" if profile.can_stop and not is_free else None


def _least_effort(encoded: WireRequest, profile: ModelProfile) -> str | None:
    asked = encoded.thinking
    if not profile.is_known:
        if asked.is_effort_none:
            return "none"
        reason = f"it is not known whether `{encoded.model}` can think"
        encoded.degrade("no thinking", BY_ITSELF, reason)
    if not profile.reasons:
        return None
    effort = profile.fitting_effort("none")
    if effort != "none":
        requested = "reasoning effort `none`" if asked.is_effort_none else "no thinking"
        encoded.degrade(requested, f"`{effort}`", _efforts(encoded, profile))
    return effort


def _efforts(encoded: WireRequest, profile: ModelProfile) -> str:
    return f"`{encoded.model}` takes {', '.join(f'`{each}`' for each in profile.efforts)}"
