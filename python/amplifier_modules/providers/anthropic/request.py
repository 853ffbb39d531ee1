"""Encoding of a `ChatRequest` as the body of `POST /v1/messages`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic_core import PydanticSerializationError, to_json

from amplifier_core._kernel.shown import shown
from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Degradation

from .blocks import JsonDict, fields_of
from .config import PROVIDER, AnthropicConfig
from .messages import Conversation, encode_messages
from .models import ModelProfile, model_profile

MIN_THINKING_TOKENS = 1_024
_BUDGETS = {"minimal": MIN_THINKING_TOKENS, "low": 4_096}
_DEFAULT_BUDGET_TOKENS = 8_192
_INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"
# With thinking, the API accepts `top_p` only in this range.
_MIN_TOP_P_WITH_THINKING = 0.95


@dataclass
class EncodedRequest:
    """A request ready to be sent."""

    body: JsonDict
    conversation: Conversation
    betas: list[str] = field(default_factory=list[str])
    degradation: Degradation | None = None
    """The first feature that the model does not support as requested."""

    @property
    def model(self) -> str:
        """The model that the request names."""
        return self.body["model"]

    def to_bytes(self) -> bytes:
        """Write the body as JSON; NaN and infinity become null, lone surrogates U+FFFD.

        Raises:
            InvalidRequestError: The body has no JSON form (a cycle, unlimited nesting).
        """
        try:
            try:
                return to_json(self.body, inf_nan_mode="null", fallback=str)
            except (PydanticSerializationError, UnicodeEncodeError):
                return to_json(_without_surrogates(self.body), inf_nan_mode="null", fallback=str)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise InvalidRequestError(
                f"the request to `{self.model}` cannot be written as JSON: {error}",
                provider=PROVIDER,
                model=self.model,
            ) from error


def encode_request(
    request: ChatRequest, config: AnthropicConfig, options: Mapping[str, Any] | None = None
) -> EncodedRequest:
    """Encode `request`.

    Args:
        request: The conversation, the tools and the options of this call.
        config: The provider's settings, used where the request sets nothing.
        options: Keywords of `complete`, which override both: `model`, `max_tokens`,
            `temperature`, `reasoning_effort`, `thinking_budget_tokens`, `extended_thinking`.

    Raises:
        InvalidRequestError: There is nothing to send, or `tool_choice` has no meaning here.
    """
    options = {key: value for key, value in (options or {}).items() if value is not None}
    model: str = options.get("model") or request.model or config.default_model
    profile = model_profile(model)
    conversation = encode_messages(request.messages, model)
    if not conversation.messages:
        raise InvalidRequestError(
            "there is no message to send: the conversation has no text of the user",
            provider=PROVIDER,
            model=model,
        )
    encoded = EncodedRequest({"model": model}, conversation, list(config.beta_headers))
    if conversation.left_out:
        kinds = named_kinds(conversation.left_out)
        _degrade(encoded, f"content blocks {kinds}", "left out", "the API does not support them")
    body = encoded.body
    wanted = options.get("max_tokens") or request.max_output_tokens
    body["max_tokens"] = wanted or min(config.max_tokens, profile.max_output_tokens)
    if conversation.system:
        body["system"] = conversation.system
    body["messages"] = conversation.messages
    if request.tools:
        body["tools"] = [_encode_tool(fields_of(tool)) for tool in request.tools]
        choice = _encode_tool_choice(request.tool_choice, body["tools"], model)
        if choice is not None:
            body["tool_choice"] = choice
    stops = [stop for stop in request.stop or [] if stop.strip()]
    if stops:
        body["stop_sequences"] = stops
    _add_thinking(encoded, profile, request, config, options)
    _add_sampling(encoded, profile, request, config, options)
    if request.response_format is not None and request.response_format.type != "text":
        _degrade(
            encoded,
            f"response format {request.response_format.type}",
            "plain text",
            "this provider does not constrain the form of an answer",
        )
    if config.enable_prompt_caching:
        _mark_for_caching(body)
    body["stream"] = True
    encoded.betas = list(dict.fromkeys(encoded.betas))
    return encoded


def named_kinds(kinds: Iterable[str]) -> str:
    """Name types of blocks, each once, clipped and escaped."""
    return ", ".join(f"`{shown(kind)[1:-1]}`" for kind in dict.fromkeys(kinds))


def _encode_tool(tool: JsonDict) -> JsonDict:
    parameters = fields_of(tool.get("parameters"))
    wire: JsonDict = {"name": tool.get("name")}
    if tool.get("description"):
        wire["description"] = tool["description"]
    wire["input_schema"] = {"type": "object", **(parameters or {"properties": {}})}
    return wire


def _encode_tool_choice(
    choice: str | JsonDict | None, tools: list[JsonDict], model: str
) -> JsonDict | None:
    names = [tool["name"] for tool in tools]
    match choice:
        case None:
            return None
        case "auto" | "none" | "any":
            return {"type": choice}
        case "required":
            return {"type": "any"}
        case str() if choice in names:
            return {"type": "tool", "name": choice}
        case {"type": "auto" | "none" | "any" | "tool"}:
            return dict(choice)
        case {"function": {"name": str(name)}} if name in names:
            return {"type": "tool", "name": name}
        case _:
            raise InvalidRequestError(
                f"unknown tool choice `{choice}` (known: `auto`, `none`, `any`, `required`, or the"
                f" name of a tool: {', '.join(f'`{name}`' for name in names)})",
                provider=PROVIDER,
                model=model,
            )


def _add_thinking(
    encoded: EncodedRequest,
    profile: ModelProfile,
    request: ChatRequest,
    config: AnthropicConfig,
    options: Mapping[str, Any],
) -> None:
    body = encoded.body
    effort = options.get("reasoning_effort") or request.reasoning_effort or config.reasoning_effort
    budget: int | None = options.get("thinking_budget_tokens", config.thinking_budget_tokens)
    switch: bool | None = options.get("extended_thinking")
    if switch is False or effort == "none" or budget == 0:
        return
    asked = bool(switch or effort or budget)
    if profile.thinking == "none" and budget is None:
        if asked:
            _degrade(
                encoded, "thinking", "no thinking", f"`{body['model']}` does not support thinking"
            )
        return
    obstacle = _obstacle_to_thinking(body)
    if obstacle is not None:
        _degrade(encoded, "thinking", "no thinking", obstacle)
        return
    if profile.thinking == "adaptive":
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        if effort:
            body["output_config"] = {"effort": "low" if effort == "minimal" else effort}
        if budget is not None:
            _degrade(
                encoded,
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
        encoded.betas.append(_INTERLEAVED_THINKING)


def _obstacle_to_thinking(body: JsonDict) -> str | None:
    """Return why the API would refuse thinking for this request, or None."""
    if body.get("tool_choice", {}).get("type") in {"any", "tool"}:
        return "a forced tool call excludes thinking"
    messages: list[JsonDict] = body["messages"]
    if messages[-1]["role"] == "assistant":
        return "an answer that has already begun excludes thinking"
    if messages[-1]["content"][0]["type"] != "tool_result":
        return None
    first = messages[-2]["content"][0]["type"]
    if first in {"thinking", "redacted_thinking"}:
        return None
    return "the pending tool calls were made without thinking of this model"


def _add_sampling(
    encoded: EncodedRequest,
    profile: ModelProfile,
    request: ChatRequest,
    config: AnthropicConfig,
    options: Mapping[str, Any],
) -> None:
    body = encoded.body
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
        _degrade(encoded, "a sampling temperature", "the model's own", reason)


def _degrade(encoded: EncodedRequest, requested: str, actual: str, reason: str) -> None:
    if encoded.degradation is None:
        encoded.degradation = Degradation(requested=requested, actual=actual, reason=reason)


def _mark_for_caching(body: JsonDict) -> None:
    """Mark the ends of the parts that later calls repeat: system, tools, history."""
    ends: list[JsonDict] = []
    for part in (body.get("system"), body.get("tools"), body["messages"][-1]["content"]):
        ends.extend(part[-1:] if part else [])
    for end in ends:
        if end.get("type") not in {"thinking", "redacted_thinking"}:
            end["cache_control"] = {"type": "ephemeral"}


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            # Surrogate pairs become one character, lone surrogates U+FFFD.
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            entries = cast("JsonDict", value).items()
            return {_without_surrogates(key): _without_surrogates(item) for key, item in entries}
        case list() | tuple():
            return [_without_surrogates(item) for item in cast("list[Any]", value)]
        case _:
            return value
