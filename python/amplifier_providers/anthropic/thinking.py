"""Thinking and randomness of a request, as far as the model and the rest of the request allow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..requests.requested_thinking import MIN_THINKING_TOKENS, RequestedThinking, fitting_effort
from ..wire.body import WireRequest
from ..wire.fields import JsonDict
from ..wire.options import note_unsent_sampling
from ..wire.turn import Turn
from .config import AnthropicConfig
from .models import EFFORTS, ModelProfile

_BUDGETS = {"minimal": MIN_THINKING_TOKENS, "low": 4_096}
_DEFAULT_BUDGET_TOKENS = 8_192
_INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"
# With thinking, the API accepts `top_p` only in this range.
_MIN_TOP_P_WITH_THINKING = 0.95


@dataclass(frozen=True)
class Sampling:
    """The randomness that is asked for."""

    temperature: float | None = None
    top_p: float | None = None

    @property
    def excludes_thinking(self) -> bool:
        """Whether a model that thinks could not be asked for it."""
        is_low = self.top_p is not None and self.top_p < _MIN_TOP_P_WITH_THINKING
        return self.temperature is not None or is_low


def add_thinking(
    encoded: WireRequest,
    profile: ModelProfile,
    config: AnthropicConfig,
    length: int | None,
    sampling: Sampling,
    betas: list[str],
) -> None:
    """Ask for thinking, unless the call, the settings or the API exclude it.

    Args:
        encoded: Gets it; the length of its answer is raised if thinking that is asked for needs more.
        profile: What the model can do.
        config: The settings.
        length: The length of the answer, if the caller or a setting names it.
        sampling: The randomness that is asked for.
        betas: Gets the header that it needs.
    """
    body, asked = encoded.fields, encoded.thinking
    if asked.is_off:
        if profile.always_thinks:
            _ask_for_least(encoded)
        return
    kind = _choose_kind(encoded, profile)
    if kind == "none" and (profile.is_known or asked.budget_tokens is None):
        if asked.is_asked:
            reason = f"`{body['model']}` does not support thinking"
            encoded.degrade("thinking", "no thinking", reason)
        return
    is_adaptive = kind == "adaptive"
    obstacle = _obstacle_to_thinking(body, encoded.history.turns, is_adaptive=is_adaptive)
    if obstacle is not None:
        encoded.degrade("thinking", "no thinking", obstacle)
        return
    if not asked.is_asked and not profile.always_thinks:
        needed = MIN_THINKING_TOKENS if kind == "adaptive" else _DEFAULT_BUDGET_TOKENS
        has_room = length is None or length > needed
        if not has_room or (profile.sampling and sampling.excludes_thinking):
            return
    if kind == "adaptive":
        _add_adaptive(encoded, profile, config)
        return
    body["thinking"] = {
        "type": "enabled",
        "budget_tokens": _choose_budget(encoded, profile, length),
    }
    if config.thinking_display:
        body["thinking"]["display"] = config.thinking_display
    if profile.interleaved_beta and body.get("tools"):
        betas.append(_INTERLEAVED_THINKING)


def _ask_for_least(encoded: WireRequest) -> None:
    """Ask a model that always thinks for as little as it can, and for none of it to be shown."""
    body = encoded.fields
    body["output_config"] = {"effort": "low"}
    if _obstacle_to_thinking(body, encoded.history.turns, is_adaptive=True) is None:
        body["thinking"] = {"type": "adaptive", "display": "omitted"}
    encoded.degrade("no thinking", "an effort of `low`", f"`{encoded.model}` always thinks")


def _add_adaptive(encoded: WireRequest, profile: ModelProfile, config: AnthropicConfig) -> None:
    body, asked = encoded.fields, encoded.thinking
    body["thinking"] = {"type": "adaptive", "display": config.thinking_display or "summarized"}
    if asked.effort:
        effort = fitting_effort(asked.effort, profile.efforts, EFFORTS)
        body["output_config"] = {"effort": effort}
        if effort != asked.effort:
            reason = f"`{encoded.model}` takes {', '.join(f'`{each}`' for each in profile.efforts)}"
            encoded.degrade(f"reasoning effort `{asked.effort}`", f"`{effort}`", reason)
    if asked.budget_tokens is not None:
        encoded.degrade(
            f"a thinking budget of {asked.budget_tokens} tokens",
            "adaptive thinking",
            f"`{encoded.model}` sets its budget itself",
        )


def _choose_budget(encoded: WireRequest, profile: ModelProfile, length: int | None) -> int:
    """Return the tokens for thinking, for which the answer is made longer where it is too short.

    An explicit budget overrides the effort, and is added to the length of the answer.
    """
    body, asked = encoded.fields, encoded.thinking
    wanted = asked.budget_tokens or _BUDGETS.get(asked.effort or "", _DEFAULT_BUDGET_TOKENS)
    budget = max(wanted, MIN_THINKING_TOKENS)
    most: int = body["max_tokens"]
    if most <= budget:
        most = body["max_tokens"] = min(most + budget, profile.max_output_tokens)
    budget = min(budget, most - 1)
    if length is not None and most != length:
        reason = f"its {budget} tokens of thinking are part of them"
        encoded.degrade(f"an answer of {length} tokens", f"one of {most}", reason)
    if asked.budget_tokens is not None and budget != wanted:
        allowed = f"from {MIN_THINKING_TOKENS} to less than `max_tokens`, which is {most}"
        requested = f"a thinking budget of {wanted} tokens"
        encoded.degrade(requested, f"one of {budget}", f"the API takes {allowed}")
    elif asked.effort not in {None, "medium", *_BUDGETS} and asked.budget_tokens is None:
        reason = f"`{encoded.model}` takes a budget, no effort"
        requested = f"reasoning effort `{asked.effort}`"
        encoded.degrade(requested, f"a thinking budget of {budget} tokens", reason)
    return budget


def _choose_kind(encoded: WireRequest, profile: ModelProfile) -> str:
    """Return the kind of thinking that is asked for, if the model has it, else that of the model."""
    wanted = encoded.thinking.kind
    if wanted is None:
        return profile.thinking
    has_it = wanted == "adaptive" if profile.thinking == "adaptive" else wanted == "enabled"
    if not profile.is_known or (has_it and profile.thinking != "none"):
        return wanted
    if profile.thinking != "none" and not _is_budget_noted(encoded.thinking, profile):
        reason = f"`{encoded.model}` does not have it"
        encoded.degrade(f"thinking of type `{wanted}`", f"`{profile.thinking}`", reason)
    return profile.thinking


def _is_budget_noted(asked: RequestedThinking, profile: ModelProfile) -> bool:
    """Whether it is said anyway that a model has no budget, which is what `enabled` means."""
    return profile.thinking == "adaptive" and asked.budget_tokens is not None


def _obstacle_to_thinking(
    body: JsonDict, turns: Sequence[Turn], *, is_adaptive: bool
) -> str | None:
    """Return why the API would refuse thinking for this request, or None."""
    if body.get("tool_choice", {}).get("type") in {"any", "tool"}:
        return "a forced tool call excludes thinking"
    if turns[-1].role == "assistant":
        return "an answer that has already begun excludes thinking"
    first: Turn | None = None
    has_lost = False
    for turn in reversed(turns):  # back to the last question
        if turn.role == "assistant":
            first = turn
            has_lost = has_lost or turn.lost_thoughts
        elif not turn.results:
            break
    if is_adaptive and not has_lost:
        # The model may have decided not to think; a change of `thinking` would empty the cache.
        return None
    if first is None or first.parts[0]["type"] in {"thinking", "redacted_thinking"}:
        return None
    return "the tool calls since the last question were begun without thinking of this model"


def add_sampling(encoded: WireRequest, profile: ModelProfile, sampling: Sampling) -> None:
    """Set the randomness of the answer where the model accepts it."""
    body, temperature, top_p = encoded.fields, sampling.temperature, sampling.top_p
    if not profile.sampling:
        note_unsent_sampling(encoded, temperature, top_p, "the model does not accept it")
        return
    thinks = "thinking" in body
    if temperature is not None:
        if thinks and temperature != 1:
            requested = f"a temperature of {temperature:g}"
            encoded.degrade(requested, "a temperature of 1", "thinking excludes any other")
        else:
            body["temperature"] = temperature
    if top_p is None:
        return
    if thinks and top_p < _MIN_TOP_P_WITH_THINKING:
        note_unsent_sampling(encoded, None, top_p, "thinking excludes it")
    elif "temperature" in body and not profile.samples_twice:
        reason = "the model takes `temperature` or `top_p`"
        note_unsent_sampling(encoded, None, top_p, reason)
    else:
        body["top_p"] = top_p
