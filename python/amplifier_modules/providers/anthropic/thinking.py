"""Thinking and randomness of a request, as far as the model and the rest of the request allow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..wire.body import WireRequest
from ..wire.fields import JsonDict
from ..wire.options import asked_effort
from ..wire.turn import Turn
from .config import AnthropicConfig
from .models import ModelProfile

MIN_THINKING_TOKENS = 1_024
_BUDGETS = {"minimal": MIN_THINKING_TOKENS, "low": 4_096}
_DEFAULT_BUDGET_TOKENS = 8_192
_INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"
# With thinking, the API accepts `top_p` only in this range.
_MIN_TOP_P_WITH_THINKING = 0.95


def add_thinking(
    encoded: WireRequest,
    profile: ModelProfile,
    request: ChatRequest,
    config: AnthropicConfig,
    options: Mapping[str, Any],
    betas: list[str],
) -> None:
    """Ask for thinking, unless the call, the settings or the API exclude it."""
    body = encoded.fields
    effort = asked_effort(options, request, config)
    budget: int | None = options.get("thinking_budget_tokens", config.thinking_budget_tokens)
    switch: bool | None = options.get("extended_thinking")
    if switch is False or effort == "none" or budget == 0:
        return
    asked = bool(switch or effort or budget or config.thinking_type)
    kind = _kind(encoded, profile, config)
    if kind == "disabled":
        return
    if kind == "none" and (profile.is_known or budget is None):
        if asked:
            encoded.degrade(
                "thinking", "no thinking", f"`{body['model']}` does not support thinking"
            )
        return
    obstacle = _obstacle_to_thinking(body, encoded.history.turns)
    if obstacle is not None:
        encoded.degrade("thinking", "no thinking", obstacle)
        return
    if kind == "adaptive":
        body["thinking"] = {"type": "adaptive", "display": config.thinking_display or "summarized"}
        if effort:
            body["output_config"] = {"effort": "low" if effort == "minimal" else effort}
        if budget is not None:
            encoded.degrade(
                f"a thinking budget of {budget} tokens",
                "adaptive thinking",
                f"`{body['model']}` sets its budget itself",
            )
        return
    # An explicit budget overrides the effort, and is added to the length of the answer.
    budget = max(budget or _BUDGETS.get(effort or "", _DEFAULT_BUDGET_TOKENS), MIN_THINKING_TOKENS)
    if body["max_tokens"] <= budget:
        body["max_tokens"] = min(body["max_tokens"] + budget, profile.max_output_tokens)
    budget = min(budget, body["max_tokens"] - 1)
    body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    if config.thinking_display:
        body["thinking"]["display"] = config.thinking_display
    if profile.interleaved_beta and body.get("tools"):
        betas.append(_INTERLEAVED_THINKING)


def _kind(encoded: WireRequest, profile: ModelProfile, config: AnthropicConfig) -> str:
    """Return the kind of thinking that is set, if the model has it, else that of the model."""
    wanted = config.thinking_type
    if wanted is None or wanted == "disabled":
        return wanted or profile.thinking
    has_it = wanted == "adaptive" if profile.thinking == "adaptive" else wanted == "enabled"
    if not profile.is_known or (has_it and profile.thinking != "none"):
        return wanted
    if profile.thinking != "none":
        reason = f"`{encoded.model}` does not have it"
        encoded.degrade(f"thinking of type `{wanted}`", f"`{profile.thinking}`", reason)
    return profile.thinking


def _obstacle_to_thinking(body: JsonDict, turns: Sequence[Turn]) -> str | None:
    """Return why the API would refuse thinking for this request, or None."""
    if body.get("tool_choice", {}).get("type") in {"any", "tool"}:
        return "a forced tool call excludes thinking"
    if turns[-1].role == "assistant":
        return "an answer that has already begun excludes thinking"
    first: Turn | None = None
    for turn in reversed(turns):  # back to the last question
        if turn.role == "assistant":
            first = turn
        elif not turn.results:
            break
    if first is None or first.parts[0]["type"] in {"thinking", "redacted_thinking"}:
        return None
    return "the tool calls since the last question were begun without thinking of this model"


def add_sampling(
    encoded: WireRequest,
    profile: ModelProfile,
    request: ChatRequest,
    config: AnthropicConfig,
    options: Mapping[str, Any],
) -> None:
    """Set the randomness of the answer where the model accepts it."""
    body = encoded.fields
    temperature = options.get("temperature", request.temperature)
    explicit = temperature is not None
    temperature = config.temperature if temperature is None else temperature
    thinking = "thinking" in body
    if temperature is not None and profile.sampling and not thinking:
        body["temperature"] = temperature
    elif (
        request.top_p is not None
        and profile.sampling
        and not (thinking and request.top_p < _MIN_TOP_P_WITH_THINKING)
    ):
        body["top_p"] = request.top_p
    elif explicit or request.top_p is not None:
        reason = "thinking excludes it" if profile.sampling else "the model does not accept it"
        encoded.degrade("a sampling temperature", "the model's own", reason)
