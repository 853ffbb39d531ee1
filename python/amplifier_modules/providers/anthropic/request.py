"""Encoding of a `ChatRequest` as the body of `POST /v1/messages`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..wire.body import TurnWriter, WireRequest, json_bytes
from ..wire.fields import JsonDict, fields_of
from ..wire.history import CheckedHistory, History, Turn
from ..wire.options import (
    asked_effort,
    given_options,
    nothing_to_send,
    stop_texts,
    tool_fields,
    unknown_choice,
)
from ..wire.schema import object_schema
from .config import PROVIDER, AnthropicConfig
from .models import ModelProfile, model_profile
from .turns import TOOL_NAMES, AnthropicRules, turn_message

MIN_THINKING_TOKENS = 1_024
_BUDGETS = {"minimal": MIN_THINKING_TOKENS, "low": 4_096}
_DEFAULT_BUDGET_TOKENS = 8_192
_INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"
# With thinking, the API accepts `top_p` only in this range.
_MIN_TOP_P_WITH_THINKING = 0.95


class AnthropicEncoder:
    """Encodes the requests of one conversation after another; what was encoded is kept."""

    def __init__(self, config: AnthropicConfig) -> None:
        """Encode with these settings."""
        self._config = config
        self._history = History()
        self._writer = TurnWriter(turn_message)

    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
        """Encode `request`.

        Args:
            request: The conversation, the tools and the options of this call.
            options: Keywords of `complete`, which override both: `model`, `max_tokens`,
                `temperature`, `reasoning_effort`, `thinking_budget_tokens`, `extended_thinking`.

        Raises:
            InvalidRequestError: There is nothing to send, or `tool_choice` has no meaning here.
        """
        given = given_options(options)
        model: str = given.get("model") or request.model or self._config.default_model
        history = self._history.check(request.messages, AnthropicRules(PROVIDER, model))
        return self._encoded(request, history, model, given)

    def _encoded(
        self, request: ChatRequest, history: CheckedHistory, model: str, options: dict[str, Any]
    ) -> WireRequest:
        if not history.turns:
            raise nothing_to_send(PROVIDER, model)
        config = self._config
        profile = model_profile(model)
        body: JsonDict = {"model": model}
        turns = self._writer.turns(history, PROVIDER, model)
        encoded = WireRequest(PROVIDER, model, history, turns, "messages", body)
        betas = list(config.beta_headers)
        wanted = options.get("max_tokens") or request.max_output_tokens
        body["max_tokens"] = wanted or min(config.max_tokens, profile.max_output_tokens)
        if history.system:
            body["system"] = [dict(block) for block in history.system]
        _add_tools(encoded, request)
        if stops := stop_texts(request):
            body["stop_sequences"] = stops
        _add_thinking(encoded, profile, request, config, options, betas)
        _add_sampling(encoded, profile, request, config, options)
        if request.response_format is not None and request.response_format.type != "text":
            encoded.degrade(
                f"response format {request.response_format.type}",
                "plain text",
                "this provider does not constrain the form of an answer",
            )
        if config.enable_prompt_caching:
            _mark_for_caching(encoded)
        body["stream"] = True
        if betas:
            encoded.headers["anthropic-beta"] = ",".join(dict.fromkeys(betas))
        return encoded


def _add_tools(encoded: WireRequest, request: ChatRequest) -> None:
    tools = tool_fields(request)
    if not tools:
        return
    sent = {tool["name"]: TOOL_NAMES.wire(tool["name"]) for tool in tools}
    encoded.tool_names = {wire: name for name, wire in sent.items() if wire != name}
    encoded.fields["tools"] = [_encode_tool(tool, sent[tool["name"]]) for tool in tools]
    choice = _encode_tool_choice(request.tool_choice, sent, encoded.model)
    if choice is not None:
        encoded.fields["tool_choice"] = choice


def _encode_tool(tool: JsonDict, name: str) -> JsonDict:
    wire: JsonDict = {"name": name}
    if tool.get("description"):
        wire["description"] = tool["description"]
    wire["input_schema"] = object_schema(fields_of(tool.get("parameters")))
    return wire


def _encode_tool_choice(
    choice: str | JsonDict | None, sent: dict[str, str], model: str
) -> JsonDict | None:
    match choice:
        case None:
            return None
        case "auto" | "none" | "any":
            return {"type": choice}
        case "required":
            return {"type": "any"}
        case str(name) if name in sent:
            return {"type": "tool", "name": sent[name]}
        case {"type": "tool", "name": str(name)} if name in sent:
            return {**choice, "name": sent[name]}
        case {"type": "auto" | "none" | "any"}:
            return dict(choice)
        case {"function": {"name": str(name)}} if name in sent:
            return {"type": "tool", "name": sent[name]}
        case _:
            raise unknown_choice(choice, list(sent), PROVIDER, model)


def _add_thinking(
    encoded: WireRequest,
    profile: ModelProfile,
    request: ChatRequest,
    config: AnthropicConfig,
    options: Mapping[str, Any],
    betas: list[str],
) -> None:
    body = encoded.fields
    effort = asked_effort(options, request, config)
    budget: int | None = options.get("thinking_budget_tokens", config.thinking_budget_tokens)
    switch: bool | None = options.get("extended_thinking")
    if switch is False or effort == "none" or budget == 0:
        return
    asked = bool(switch or effort or budget)
    if profile.thinking == "none" and budget is None:
        if asked:
            encoded.degrade(
                "thinking", "no thinking", f"`{body['model']}` does not support thinking"
            )
        return
    obstacle = _obstacle_to_thinking(body, encoded.history.turns)
    if obstacle is not None:
        encoded.degrade("thinking", "no thinking", obstacle)
        return
    if profile.thinking == "adaptive":
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
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
    if profile.interleaved_beta and body.get("tools"):
        betas.append(_INTERLEAVED_THINKING)


def _obstacle_to_thinking(body: JsonDict, turns: Sequence[Turn]) -> str | None:
    """Return why the API would refuse thinking for this request, or None."""
    if body.get("tool_choice", {}).get("type") in {"any", "tool"}:
        return "a forced tool call excludes thinking"
    if turns[-1].role == "assistant":
        return "an answer that has already begun excludes thinking"
    if not turns[-1].results or turns[-2].parts[0]["type"] in {"thinking", "redacted_thinking"}:
        return None
    return "the pending tool calls were made without thinking of this model"


def _add_sampling(
    encoded: WireRequest,
    profile: ModelProfile,
    request: ChatRequest,
    config: AnthropicConfig,
    options: Mapping[str, Any],
) -> None:
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


def _mark_for_caching(encoded: WireRequest) -> None:
    """Mark the ends of the parts that later calls repeat: system, tools, history."""
    mark = {"type": "ephemeral"}
    for part in (encoded.fields.get("system"), encoded.fields.get("tools")):
        if part:
            part[-1]["cache_control"] = mark
    message = turn_message(encoded.history.turns[-1])
    end = message["content"][-1]
    if end.get("type") not in {"thinking", "redacted_thinking"}:
        message["content"][-1] = {**end, "cache_control": mark}
        encoded.turns[-1] = json_bytes(message)
