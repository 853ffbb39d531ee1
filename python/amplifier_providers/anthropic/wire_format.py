"""The format of the Messages API: the body of `POST /v1/messages`, and the blocks of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from amplifier_core.llm_errors import InvalidRequestError, LLMError
from amplifier_core.message_models import ChatRequest

from ..prompt.blocks import MessageBlocks
from ..prompt.marked_cache import LOOK_BACK, MarkedCache
from ..requests.requested_thinking import requested_thinking
from ..wire.body import TurnWriter, WireRequest, json_bytes
from ..wire.fields import JsonDict
from ..wire.history import CheckedHistory, History
from ..wire.options import (
    asked_length,
    asked_temperature,
    format_instructions,
    given_options,
    nothing_to_send,
    stop_texts,
)
from ..wire.schema import strict_schema
from ..wire.turn import Turn
from ..wire.wire_format import WireFormat
from .config import PROVIDER, AnthropicConfig
from .models import ModelProfile, model_profile
from .references import References
from .thinking import Sampling, add_sampling, add_thinking
from .tools import add_tools
from .turns import AnthropicRules, turn_message

if TYPE_CHECKING:
    from amplifier_stream import StreamResult

_NOT_IN_SCHEMAS = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems",
        "maxItems", "pattern",
    }
)  # fmt: skip
_MAX_SIGNATURES = 10_000
"""Signatures that are remembered; a process that lives for long gets any number of them."""
_MISSED = "in the latest assistant message"
"""In the text of the error about thoughts that are not as they were given."""
_LONG_CONTEXT = "context-1m-2025-08-07"
_MARK = {"type": "ephemeral"}
_NOT_MARKED = frozenset({"thinking", "redacted_thinking"})
_FAST = "fast-mode-2026-02-01"
_TASK_BUDGET = "task-budgets-2026-03-13"


class AnthropicFormat(WireFormat):
    """Writes and reads one conversation after another; what was encoded is kept."""

    path = "/v1/messages"
    cache_rule = MarkedCache

    def __init__(self, config: AnthropicConfig) -> None:
        """Encode with these settings."""
        super().__init__()
        self._config = config
        self._history = History()
        self._writer = TurnWriter(self._write_turn)
        self._references = References()
        """The tools that the model reads of when a search finds them."""
        self._received: dict[str, None] = {}
        """The signatures of answers."""

    @override
    def use_settings(self, settings: AnthropicConfig) -> None:
        self._config = settings

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
        given = given_options(options)
        model: str = given.get("model") or request.model or self._config.default_model
        history = self._history.check(request.messages, self._make_rules(model))
        return self._encode(request, history, model, given)

    def _make_rules(self, model: str) -> AnthropicRules:
        prefill = model_profile(model).prefill
        return AnthropicRules(PROVIDER, model, ends_with_user=not prefill, received=self._received)

    @override
    def raw_block(self, block: JsonDict) -> JsonDict:
        if block.get("type") != "tool_call":
            return block
        known = ("type", "arguments", "raw_arguments", "error")
        raw = {key: value for key, value in block.items() if key not in known}
        return {"type": "tool_use", **raw, "input": block.get("arguments")}

    @override
    def build_next_request(
        self, encoded: WireRequest, results: list[StreamResult], last: list[JsonDict]
    ) -> WireRequest | None:
        """Go on where the API paused: its content is sent back unchanged."""
        self._note_signatures(last)
        most = self._config.max_continuations
        if results[-1].raw_stop_reason != "pause_turn" or len(results) > most:
            return None
        message = json_bytes({"role": "assistant", "content": last})
        return replace(encoded, turns=[*encoded.turns, message], blocks=None)

    @override
    def repair_request(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Go on without thinking where the API misses thoughts that somebody left out."""
        parts = (part for turn in encoded.history.turns for part in turn.parts)
        if (
            type(error) is not InvalidRequestError
            or _MISSED not in str(error)
            or encoded.fields.get("thinking", {}).get("type") != "adaptive"
            or any(part["type"] in _NOT_MARKED for part in parts)
        ):
            return None
        fields = {key: value for key, value in encoded.fields.items() if key != "thinking"}
        repaired = replace(encoded, fields=fields)
        repaired.degrade("thinking", "no thinking", "thoughts of the last answers are missing")
        return repaired

    def _note_signatures(self, blocks: Iterable[JsonDict]) -> None:
        """Remember the signatures of an answer, so that its thinking is known again."""
        for block in blocks:
            if signature := block.get("signature") or block.get("data"):
                self._received[signature] = None
        if len(self._received) > _MAX_SIGNATURES:
            for oldest in list(self._received)[: _MAX_SIGNATURES // 2]:
                self._received.pop(oldest, None)

    def _encode(
        self, request: ChatRequest, history: CheckedHistory, model: str, options: dict[str, Any]
    ) -> WireRequest:
        if not history.turns:
            raise nothing_to_send(PROVIDER, model)
        config = self._config
        profile = model_profile(model)
        body: JsonDict = {"model": model}
        self._use_references(References.of(request))
        turns = self._writer.write_turns(history, PROVIDER, model)
        encoded = WireRequest(
            PROVIDER, model, history, turns, "messages", body, blocks=self._writer.blocks
        )
        betas = list(config.beta_headers)
        encoded.thinking = requested_thinking(
            options, request.reasoning_effort, config, provider=PROVIDER
        )
        length = _add_length(encoded, profile, request, config, options)
        if history.system:
            body["system"] = [dict(block) for block in history.system]
        add_tools(encoded, request, config)
        if stops := stop_texts(encoded, request):
            body["stop_sequences"] = stops
        sampling = Sampling(asked_temperature(options, request, config), request.top_p)
        add_thinking(encoded, profile, config, length, sampling, betas)
        add_sampling(encoded, profile, sampling)
        _add_format(encoded, profile, request)
        _add_features(body, profile, config, betas)
        if config.enable_prompt_caching:
            _mark_for_caching(encoded, self._write_turn)
        if config.use_streaming:
            body["stream"] = True
        if betas:
            encoded.headers["anthropic-beta"] = ",".join(dict.fromkeys(betas))
        return encoded

    def _use_references(self, references: References) -> None:
        """Write results of searches with these references; those that were written are, again."""
        if references != self._references:
            self._references = references
            self._writer = TurnWriter(self._write_turn)

    def _write_turn(self, turn: Turn) -> JsonDict:
        message = turn_message(turn)
        for result, written in zip(turn.results, message["content"], strict=False):
            if result.tool == self._references.finder and isinstance(result.output, str):
                written["content"] = self._references.write_result(result.output)
        return message


def _add_length(
    encoded: WireRequest,
    profile: ModelProfile,
    request: ChatRequest,
    config: AnthropicConfig,
    options: Mapping[str, Any],
) -> int | None:
    """Limit the answer; return the limit if the caller or a setting names it."""
    wanted = asked_length(options, request, config, PROVIDER)
    longest = profile.max_output_tokens
    if wanted is not None and wanted > longest and profile.is_known:
        encoded.degrade(
            f"an answer of {wanted} tokens", f"at most {longest}", "the model writes no more"
        )
        wanted = longest
    encoded.fields["max_tokens"] = wanted or min(config.max_tokens, longest)
    return wanted


def _add_format(encoded: WireRequest, profile: ModelProfile, request: ChatRequest) -> None:
    """Hold the answer to a schema, or tell the model of it where that is not possible."""
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return
    schema = None
    if wanted.type == "json_schema" and profile.structured:
        schema = strict_schema(wanted.json_schema, without=_NOT_IN_SCHEMAS, recursive=False)
    if schema is not None:
        answer = {"type": "json_schema", "schema": schema}
        encoded.fields.setdefault("output_config", {})["format"] = answer
        return
    instruction = {"type": "text", "text": format_instructions(wanted)}
    encoded.fields["system"] = [*encoded.fields.get("system", ()), instruction]
    encoded.degrade(
        f"response format {wanted.type}",
        "instructions in the system prompt",
        "the model cannot be held to this schema"
        if profile.structured
        else f"`{encoded.model}` cannot be held to a schema",
    )


def _add_features(
    body: JsonDict, profile: ModelProfile, config: AnthropicConfig, betas: list[str]
) -> None:
    if config.enable_1m_context and profile.long_context_beta:
        betas.append(_LONG_CONTEXT)
    if config.speed is not None:
        body["speed"] = config.speed
        betas.append(_FAST)
    if config.task_budget_tokens is not None:
        budget = {"type": "tokens", "total": config.task_budget_tokens}
        body.setdefault("output_config", {})["task_budget"] = budget
        betas.append(_TASK_BUDGET)


def _mark_for_caching(encoded: WireRequest, write_turn: Callable[[Turn], JsonDict]) -> None:
    """Mark the ends of the parts that later calls repeat: system, tools, history."""
    tools = [each for each in encoded.fields.get("tools", ()) if "defer_loading" not in each]
    for part in (encoded.fields.get("system"), tools):
        if part:
            part[-1]["cache_control"] = _MARK
    blocks = encoded.blocks
    if blocks is None or not blocks.steady:
        return
    last = _mark_block(encoded, blocks, blocks.steady - 1, write_turn)
    before = sum(blocks.counts[:-2])
    if last is not None and before and last - (before - 1) >= LOOK_BACK:
        # The mark of the request before is too far from this one to be looked for.
        _mark_block(encoded, blocks, before - 1, write_turn)


def _mark_block(
    encoded: WireRequest,
    blocks: MessageBlocks,
    place: int,
    write_turn: Callable[[Turn], JsonDict],
) -> int | None:
    """Mark a block of one of the last turns; return its place, None if it cannot be marked."""
    start, turn = len(blocks.digests), len(blocks.counts)
    while start > place:
        turn -= 1
        start -= blocks.counts[turn]
    message = write_turn(encoded.history.turns[turn])
    end = message["content"][place - start]
    piece = turn - len(blocks.counts)
    # Settled turns are written together, but for the last of them.
    written_alone = len(encoded.history.turns) - encoded.history.settled + 1
    if end.get("type") in _NOT_MARKED or -piece > written_alone:
        return None
    message["content"][place - start] = {**end, "cache_control": _MARK}
    encoded.turns[piece] = json_bytes(message)
    encoded.marks.append(place)
    return place
