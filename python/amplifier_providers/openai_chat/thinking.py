"""How a service is asked for thinking, or for none."""

from __future__ import annotations

from ..requests.openai_models import ModelProfile
from ..requests.requested_thinking import BY_ITSELF
from ..responses.effort import effort_for
from ..wire.body import WireRequest
from ..wire.fields import JsonDict
from ..wire.options import note_unsent_sampling
from .presets import Preset


def add_thinking(
    encoded: WireRequest, preset: Preset, profile: ModelProfile, limit: int | None
) -> None:
    """Ask for thinking as far as it is wanted; note what cannot be asked for.

    Args:
        encoded: The request, with its tools, its randomness and how much thinking is asked for.
        preset: The service.
        profile: What the model can do if it is one of OpenAI.
        limit: The tokens of the answer, if the caller or a setting names them.
    """
    body, asked = encoded.fields, encoded.thinking
    match preset.thinking:
        case "reasoning_effort":
            _add_effort(encoded, profile, limit)
        case "reasoning" if asked.is_off:
            body["reasoning"] = {"enabled": False}
        case "reasoning" if asked.is_asked:
            body["reasoning"] = _choose_reasoning(encoded)
        case "thinking":
            _add_switch(encoded, preset, limit)
        case "none" if asked.is_off or asked.is_asked:
            wanted = "thinking" if asked.is_asked else "no thinking"
            encoded.degrade(wanted, BY_ITSELF, f"{preset.title} has no field for it")
        case _:
            pass


def _add_effort(encoded: WireRequest, profile: ModelProfile, limit: int | None) -> None:
    # Models that think do so without being asked, and others refuse the field.
    is_sampled = "temperature" in encoded.fields or "top_p" in encoded.fields
    is_free = not is_sampled and encoded.thinking.has_room(limit)
    effort = effort_for(encoded, profile, is_free=is_free)
    if effort:
        encoded.fields["reasoning_effort"] = effort
    if not profile.can_sample(effort):
        body, reason = encoded.fields, f"`{encoded.model}` does not accept it while it reasons"
        note_unsent_sampling(
            encoded, body.pop("temperature", None), body.pop("top_p", None), reason
        )
    if profile.reasons and not profile.has_open_weights and encoded.fields.pop("stop", None):
        encoded.degrade("stop texts", "none", f"`{encoded.model}` has none")


def _choose_reasoning(encoded: WireRequest) -> JsonDict:
    """Return how much OpenRouter lets a model think: a budget or an effort, it takes one alone."""
    asked = encoded.thinking
    if asked.budget_tokens is None:
        return {"effort": asked.effort} if asked.effort else {"enabled": True}
    if asked.effort:
        requested = f"reasoning effort `{asked.effort}`"
        actual = f"a thinking budget of {asked.budget_tokens:,} tokens"
        encoded.degrade(requested, actual, "the service takes one of them")
    return {"max_tokens": asked.budget_tokens}


def _add_switch(encoded: WireRequest, preset: Preset, limit: int | None) -> None:
    """Turn thinking on or off for a model that thinks unless it is asked not to.

    It has no effect then how random its answers shall be, and no tool can be forced on it.
    """
    body, asked = encoded.fields, encoded.thinking
    sampling = [name for name in ("temperature", "top_p") if name in body]
    is_forced = body.get("tool_choice") not in (None, "auto", "none")
    if is_forced and asked.is_asked:
        encoded.degrade("thinking", "no thinking", "a forced tool call excludes thinking")
    is_excluded = not asked.is_asked and (bool(sampling) or not asked.has_room(limit))
    if asked.is_off or is_forced or is_excluded:
        body["thinking"] = {"type": "disabled"}
        return
    if not asked.is_asked:
        return
    body["thinking"] = {"type": "enabled"}
    if asked.effort:
        body["reasoning_effort"] = asked.effort
    if asked.budget_tokens is not None:
        requested = f"a thinking budget of {asked.budget_tokens:,} tokens"
        encoded.degrade(requested, "no limit of its own", f"{preset.title} takes an effort alone")
    for name in sampling:
        encoded.degrade(f"a `{name}` of {body[name]:g}", "without effect", "thinking excludes it")
