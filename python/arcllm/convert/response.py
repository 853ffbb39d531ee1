"""The answer of a provider of the kernel as a response of this package."""

from __future__ import annotations

import json
from typing import Any

from amplifier_core import message_models as kernel
from amplifier_providers.requests.requested_thinking import HIDDEN, THOUGHTS

from ..exceptions import ArcLLMParseError
from ..types import LLMResponse, TextBlock, ToolCall, ToolUseBlock, Usage
from .blocks import JsonDict, dump_block, read_block
from .entries import Woven, entry_of

_KNOWN_REASONS = frozenset(
    {"end_turn", "tool_use", "max_tokens", "stop_sequence", "content_filter"}
)
_SAYS_NOTHING = frozenset({None, "", "other"})
_COUNTS = ("input_tokens", "output_tokens", "total_tokens")
_ORIGIN = ("provider", "model", "requested_model")
_IN_BLOCKS = frozenset({"openai:reasoning_items", "openai:reasoning_led_to"})
"""What the metadata repeats of the blocks, for loops that keep no blocks."""


def llm_response(answer: kernel.ChatResponse, provider: str) -> LLMResponse:
    """Return an answer as a response.

    Its `raw` is what the service sent, or the answer as the kernel has it if that is all there is.

    Args:
        answer: The answer of a provider.
        provider: The name of the provider here.

    Raises:
        ArcLLMParseError: The arguments of a call are no JSON object, or are not whole.
    """
    parts = _AnswerParts(answer)
    known = dict(answer.metadata or {})
    of_provider = {key: known.pop(key) for key in list(known) if ":" in key}
    usage, more = _convert_usage(answer.usage, known.pop("unreported", None))
    metadata: JsonDict = {**known, "provider": provider, **more, **parts.metadata_notes()}
    if degradations := _list_degradations(answer):
        metadata["degradations"] = degradations
    response = LLMResponse(
        content="".join(parts.texts) or None,
        tool_calls=parts.calls,
        usage=usage,
        model=str(known.get("model") or ""),
        stop_reason=_stop_reason(answer.finish_reason, known.get("stop_reason")),
        thinking="".join(parts.thoughts) or None,
        raw=_read_raw(answer),
        metadata=metadata,
        opaque=parts.list_opaque(known, of_provider),
    )
    if parts.broken:
        raise _parse_error(response, parts.broken)
    return response


def _read_raw(answer: kernel.ChatResponse) -> JsonDict:
    """Return what the service sent, as plain JSON."""
    received = getattr(answer, "received", None)
    return received or answer.model_dump(mode="json", fallback=str)


class _AnswerParts:
    """What the blocks of an answer say."""

    def __init__(self, answer: kernel.ChatResponse) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[ToolCall] = []
        self.broken: list[JsonDict] = []
        """Calls whose arguments cannot be read."""
        self._others: list[str] = []
        self._refusals: list[str] = []
        self._parts: list[Woven] = []
        for block in answer.content:
            self._add(dump_block(block))

    def _add(self, block: JsonDict) -> None:
        kind = block["type"]
        if kind == "tool_call" and block.get("error"):
            self.broken.append(block)
            return
        if kind == "text" and isinstance(block.get("refusal"), str):
            self._refusals.append(block["refusal"])
        found = read_block(block) if kind in {"text", "tool_call"} else None
        match found:
            case TextBlock() as text, more if text.text:
                self.texts.append(text.text)
                self._parts.append((text, more))
                return
            case TextBlock(), more if not more:
                return
            case ToolUseBlock() as call, more:
                self.calls.append(ToolCall(id=call.id, name=call.name, arguments=call.arguments))
                self._parts.append((call, more))
                return
            case _:
                self._parts.append(block)
        if kind in THOUGHTS:
            if block.get("visibility") != HIDDEN:
                self.thoughts += _list_thoughts(block)
        elif kind != "text":
            self._others.append(kind)

    def metadata_notes(self) -> JsonDict:
        """Return what the metadata says of blocks that have no place in a response."""
        found: JsonDict = {}
        if self._refusals:
            found["refusal"] = "".join(self._refusals)
        if self._others:
            found["other_blocks"] = self._others
        return found

    def list_opaque(self, metadata: JsonDict, of_provider: JsonDict) -> list[JsonDict] | None:
        """Return the entries, if they say more than the text and the calls."""
        metadata_notes = {key: value for key, value in of_provider.items() if key not in _IN_BLOCKS}
        if self._is_usual() and not metadata_notes:
            return None
        named = {key: metadata[key] for key in _ORIGIN if metadata.get(key)}
        return [
            {"type": "origin", "metadata": {**named, **metadata_notes}},
            *map(entry_of, self._parts),
        ]

    def _is_usual(self) -> bool:
        """Whether the blocks are at most one text and then calls, and say nothing besides."""
        return all(
            isinstance(part, tuple) and not part[1] and (not at or part[0].type == "tool_use")
            for at, part in enumerate(self._parts)
        )


def _list_thoughts(block: JsonDict) -> list[str]:
    if isinstance(text := block.get("thinking"), str):
        return [text]
    items: list[Any] = [*(block.get("summary") or ()), *(block.get("content") or ())]
    return [item["text"] for item in items if isinstance(item, dict) and "text" in item]


def _convert_usage(
    usage: kernel.Usage | None, unreported: list[str] | None
) -> tuple[Usage, JsonDict]:
    if usage is None:
        nothing = Usage(input_tokens=0, output_tokens=0, total_tokens=0)
        return nothing, {"unreported": list(_COUNTS)}
    counted = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )
    cost = usage.cost_usd
    more: JsonDict = {} if cost is None else {"cost_usd": float(cost)}
    if unreported:
        more["unreported"] = [*unreported, "total_tokens"]
    return counted, more


def _stop_reason(normalised: str | None, reported: Any) -> str:
    """Return the known word for why an answer ended, else what the service said."""
    if normalised in _KNOWN_REASONS or normalised not in _SAYS_NOTHING:
        return str(normalised)
    return str(reported or normalised or "unknown")


def _list_degradations(answer: kernel.ChatResponse) -> list[JsonDict]:
    listed = (answer.metadata or {}).get("degradations")
    if listed is None and answer.degradation is not None:
        return [answer.degradation.model_dump()]
    return listed or []


def _parse_error(response: LLMResponse, broken: list[JsonDict]) -> ArcLLMParseError:
    response.metadata["unparsed_calls"] = [
        {key: call.get(key) for key in ("id", "name", "raw_arguments", "error")} for call in broken
    ]
    first = broken[0]
    raw = str(first.get("raw_arguments") or "")
    error = ArcLLMParseError(raw, _find_cause(raw, f"call of `{first['name']}`: {first['error']}"))
    error.response = response
    return error


def _find_cause(raw: str, why: str) -> Exception:
    try:
        json.loads(raw)
    except ValueError as error:
        error.add_note(why)
        return error
    return ValueError(why)
