"""An answer in the dialect: as one completion, and as the chunks of a stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..serving.answer import (
    Answer,
    Block,
    Call,
    Declined,
    RedactedThinking,
    Text,
    Thinking,
    Usage,
)
from ..serving.reading import Json
from .presets import Preset

_CREATED = 1_750_000_000
_FINGERPRINT = "fp_0000000000"
_FORMAT = "anthropic-claude-v1"


@dataclass(frozen=True)
class Frame:
    """What all chunks of an answer have in common."""

    id: str
    model: str
    is_azure: bool

    def make_chunk(self, choices: list[Json], **fields: object) -> Json:
        """Return a chunk."""
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": _CREATED,
            "model": self.model,
            "service_tier": "default",
            "system_fingerprint": _FINGERPRINT,
            "choices": choices,
            **fields,
        }

    def make_choice(self, delta: Json, finish_reason: str | None = None) -> Json:
        """Return the one choice of a chunk."""
        choice: Json = {"index": 0, "delta": delta, "logprobs": None}
        if self.is_azure and not finish_reason:
            choice["content_filter_results"] = {}
        return {**choice, "finish_reason": finish_reason}


def compose(answer: Answer, frame: Frame, preset: Preset, sign: Callable[[str], str]) -> Json:
    """Return an answer as one completion; its calls have ids."""
    texts: list[str] = []
    thoughts: list[Json] = []
    message: Json = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
    for part in answer.parts:
        match part:
            case Text(text):
                texts.append(text)
            case Declined(text):
                message["refusal"] = text
            case Thinking(thought) if preset.reasoning_field == "parts":
                thoughts.append(_thinking_part(thought))
            case Thinking(thought):
                _add_reasoning(message, thought, preset, sign)
            case RedactedThinking(thought) if preset.reasoning_field == "details":
                hidden: Json = {"type": "reasoning.encrypted", "data": sign(thought), "index": 0}
                message.setdefault("reasoning_details", []).append({**hidden, "format": _FORMAT})
            case RedactedThinking():
                pass  # only the dialect of OpenRouter has a place for it
            case Call():
                message.setdefault("tool_calls", []).append(_call_entry(part))
            case Block(value):
                message |= value
    content = "".join(texts)
    if thoughts:
        message["content"] = [*thoughts, {"type": "text", "text": content}] if content else thoughts
    elif content:
        message["content"] = content
    choice: Json = {"index": 0, "message": message, "logprobs": None}
    if frame.is_azure:
        choice["content_filter_results"] = {}
    return {
        "id": frame.id,
        "object": "chat.completion",
        "created": _CREATED,
        "model": frame.model,
        "choices": [{**choice, "finish_reason": finish_reason(answer)}],
        "usage": usage_of(answer.usage),
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }


def stream_chunks(
    answer: Answer,
    frame: Frame,
    preset: Preset,
    sign: Callable[[str], str],
    *,
    include_usage: bool,
) -> Iterator[Json]:
    """Yield the chunks of an answer whose calls have ids."""
    usual: Json = {"usage": None} if include_usage else {}
    if frame.is_azure:
        filtered: list[Json] = [{"prompt_index": 0, "content_filter_results": {}}]
        empty = Frame("", "", is_azure=True).make_chunk([], prompt_filter_results=filtered)
        yield {**empty, "object": "", "created": 0}
    first: Json = {"role": "assistant", "content": "", "refusal": None}
    yield frame.make_chunk([frame.make_choice(first)], **usual)
    for delta in _write_deltas(answer, preset, sign):
        yield frame.make_chunk([frame.make_choice(delta)], **usual)
    yield frame.make_chunk([frame.make_choice({}, finish_reason(answer))], **usual)
    if include_usage:
        yield frame.make_chunk([], usage=usage_of(answer.usage))


def finish_reason(answer: Answer) -> str:
    """Return why the answer ends."""
    return answer.stop or ("tool_calls" if answer.calls else "stop")


def usage_of(usage: Usage) -> Json:
    """Return the tokens as the dialect counts them."""
    given = usage.input + usage.cache_read + usage.cache_write
    written = usage.output + usage.reasoning
    return {
        "prompt_tokens": given,
        "completion_tokens": written,
        "total_tokens": given + written,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    }


def _write_deltas(answer: Answer, preset: Preset, sign: Callable[[str], str]) -> Iterator[Json]:
    count = 0
    for part in answer.parts:
        match part:
            case Text(text):
                yield from ({"content": piece} for piece in answer.fragments(text))
            case Declined(text):
                yield from ({"refusal": piece} for piece in answer.fragments(text))
            case Thinking() if not preset.reasoning_field:
                pass  # OpenAI keeps it
            case Thinking(thought):
                for piece in answer.fragments(thought):
                    yield _reasoning_delta(piece, preset)
                if preset.reasoning_field == "details":
                    signed = {"type": "reasoning.text", "signature": sign(thought)}
                    detail = {**signed, "format": _FORMAT, "index": 0}
                    yield {"reasoning": "", "reasoning_details": [detail]}
            case RedactedThinking(thought) if preset.reasoning_field == "details":
                hidden = {"type": "reasoning.encrypted", "data": sign(thought)}
                detail = {**hidden, "format": _FORMAT, "index": 0}
                yield {"reasoning": None, "reasoning_details": [detail]}
            case RedactedThinking():
                pass
            case Call():
                called = _call_entry(part)
                whole = called["function"]["arguments"]
                called["function"]["arguments"] = ""
                yield {"tool_calls": [{"index": count, **called}]}
                for piece in answer.fragments(whole):
                    yield {"tool_calls": [{"index": count, "function": {"arguments": piece}}]}
                count += 1
            case Block(value):
                yield dict(value)


def _reasoning_delta(piece: str, preset: Preset) -> Json:
    match preset.reasoning_field:
        case "reasoning":
            return {"reasoning": piece}
        case "details":
            detail = {"type": "reasoning.text", "text": piece, "format": _FORMAT, "index": 0}
            return {"reasoning": piece, "reasoning_details": [detail]}
        case "parts":
            return {"content": [_thinking_part(piece)]}
        case _:
            return {"reasoning_content": piece}


def _add_reasoning(message: Json, thought: str, preset: Preset, sign: Callable[[str], str]) -> None:
    match preset.reasoning_field:
        case "reasoning":
            message["reasoning"] = message.get("reasoning", "") + thought
        case "details":
            message["reasoning"] = message.get("reasoning", "") + thought
            signed = {"type": "reasoning.text", "text": thought, "signature": sign(thought)}
            detail = {**signed, "format": _FORMAT, "index": 0}
            message.setdefault("reasoning_details", []).append(detail)
        case "reasoning_content":
            message["reasoning_content"] = message.get("reasoning_content", "") + thought
        case _:
            pass  # OpenAI keeps it


def _thinking_part(thought: str) -> Json:
    return {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}


def _call_entry(call: Call) -> Json:
    given = call.arguments
    written = given if isinstance(given, str) else _compact(given)
    function: Json = {"name": call.name, "arguments": written}
    return {"id": call.id, "type": "function", "function": function}


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
