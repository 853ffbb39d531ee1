"""The effort to ask a model of OpenAI for, over either of its APIs."""

from __future__ import annotations

from typing import Any

from ..requests.openai_models import ModelProfile
from ..requests.requested_thinking import BY_ITSELF
from ..wire.body import WireRequest
from ..wire.fields import JsonDict, fields_of
from .settings import ResponsesSettings
from .tools import included_results

_ENCRYPTED = "reasoning.encrypted_content"
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
    if asked.is_off:
        return _least_effort(encoded, profile)
    if not asked.is_asked:
        return "none" if profile.can_stop and not is_free else None
    if profile.is_known and not profile.reasons:
        encoded.degrade("reasoning", "no reasoning", f"`{encoded.model}` does not reason")
        return None
    budget = asked.budget_tokens
    wanted = "thinking" if budget is None else f"a thinking budget of {budget:,} tokens"
    if not profile.is_known and not asked.effort:
        encoded.degrade(wanted, BY_ITSELF, _explain_unknown(encoded))
        return None
    if budget is not None:
        encoded.degrade(wanted, "no limit of its own", f"`{encoded.model}` takes an effort alone")
    if not asked.effort:
        # What can be turned off may be off without a word.
        return _USUAL_EFFORT if profile.can_stop else None
    effort = profile.fitting_effort(asked.effort)
    if effort != asked.effort:
        requested = f"reasoning effort `{asked.effort}`"
        encoded.degrade(requested, f"`{effort}`", _explain_efforts(encoded, profile))
    return effort


def _least_effort(encoded: WireRequest, profile: ModelProfile) -> str | None:
    asked = encoded.thinking
    if not profile.is_known:
        if asked.is_effort_none:
            return "none"
        encoded.degrade("no thinking", BY_ITSELF, _explain_unknown(encoded))
    if not profile.reasons:
        return None
    effort = profile.fitting_effort("none")
    if effort != "none":
        requested = "reasoning effort `none`" if asked.is_effort_none else "no thinking"
        encoded.degrade(requested, f"`{effort}`", _explain_efforts(encoded, profile))
    return effort


def _explain_efforts(encoded: WireRequest, profile: ModelProfile) -> str:
    return f"`{encoded.model}` takes {', '.join(f'`{each}`' for each in profile.efforts)}"


def _explain_unknown(encoded: WireRequest) -> str:
    return f"it is not known whether `{encoded.model}` can think"


def add_reasoning(
    encoded: WireRequest,
    settings: ResponsesSettings,
    profile: ModelProfile,
    effort: str | None,
    given: Any,
) -> None:
    """Add how much the model thinks, and how much of it is shown."""
    included = included_results(encoded.fields.get("tools", ()))
    if effort or profile.reasons:
        facts: JsonDict = {"effort": effort} if effort else {}
        if effort != "none":
            summary = fields_of(given).get("summary") or settings.reasoning_summary
            if summary != "none" and not encoded.thinking.is_off:
                facts["summary"] = summary
            included.append(_ENCRYPTED)
        if facts:
            encoded.fields["reasoning"] = facts
    if included:
        encoded.fields["include"] = included
