"""An answer in the dialect: as one message, and as the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

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
from ..serving.exchange import read_events
from ..serving.reading import Json, read_mapping, read_objects, read_text

Event = Json


def compose(
    answer: Answer,
    model: str,
    new_id: Callable[[str], str],
    sign: Callable[[str], str],
    redact: Callable[[str], str],
) -> Json:
    """Return an answer as one message.

    Args:
        answer: What to say.
        model: The model that the request asked.
        new_id: Makes an id that begins so.
        sign: Signs thoughts.
        redact: Hides thoughts.
    """
    content: list[Json] = []
    for part in answer.parts:
        match part:
            case Text(text):
                content.append({"type": "text", "text": text})
            case Thinking(thought):
                signed = {"thinking": thought, "signature": sign(thought)}
                content.append({"type": "thinking", **signed})
            case RedactedThinking(thought):
                content.append({"type": "redacted_thinking", "data": redact(thought)})
            case Call(name, _, given):
                called = {
                    "id": given or new_id("toolu_"),
                    "name": name,
                    "input": read_arguments(part),
                }
                content.append({"type": "tool_use", **called})
            case Block(value):
                content.append(dict(value))
            case Declined():
                pass  # the stop reason says it
    declined = [part for part in answer.parts if isinstance(part, Declined)]
    reason = "refusal" if declined else "tool_use" if answer.calls else "end_turn"
    message: Json = {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": answer.stop or reason,
        "stop_sequence": None,
        "usage": _write_usage(answer.usage),
    }
    if declined:
        message["stop_details"] = {
            "type": "refusal",
            "category": None,
            "explanation": declined[0].text,
        }
    return message


def read_arguments(call: Call) -> Any:
    """Return the arguments of a call as a value; an empty object if they are no JSON."""
    if not isinstance(call.arguments, str):
        return dict(call.arguments)
    try:
        return json.loads(call.arguments)
    except ValueError:
        return {}


def stream_events(message: Json, answer: Answer) -> Iterator[Event]:
    """Yield the events of a message.

    Args:
        message: The message.
        answer: What it was made of: how calls are written, and how long fragments are.
    """
    written = iter([call.arguments for call in answer.calls])
    first = {**message["usage"], "output_tokens": 1}
    opening: Json = {**message, "content": [], "stop_reason": None, "usage": first}
    opening.pop("stop_details", None)
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        start: Json = block
        deltas: list[Json] = []
        match block["type"]:
            case "text" if block.keys() == {"type", "text"}:
                start = {"type": "text", "text": ""}
                texts = answer.fragments(block["text"])
                deltas = [{"type": "text_delta", "text": each} for each in texts]
            case "thinking" if block.keys() == {"type", "thinking", "signature"}:
                start = {"type": "thinking", "thinking": "", "signature": ""}
                texts = answer.fragments(block["thinking"])
                deltas = [{"type": "thinking_delta", "thinking": each} for each in texts]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case "tool_use" if block.keys() == {"type", "id", "name", "input"}:
                start = {**block, "input": {}}
                given = next(written, block["input"])
                whole = given if isinstance(given, str) else _compact(given)
                # The first is always empty, and a call without arguments has no other.
                parts = ["", *answer.fragments("" if whole == "{}" else whole)]
                deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            case _:
                pass  # the blocks of Anthropic's own tools come whole
        yield {"type": "content_block_start", "index": index, "content_block": start}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    if "stop_details" in message:
        ended["stop_details"] = message["stop_details"]
    yield {"type": "message_delta", "delta": ended, "usage": message["usage"]}
    yield {"type": "message_stop"}


def recorded_blocks(body: bytes) -> list[Json]:
    """Return the thoughts and other blocks of a recorded body, a stream or one message."""
    blocks: dict[int, Json] = {}
    for event in read_events(body):
        index = int(event.get("index", 0))
        if "content_block" in event:
            blocks[index] = dict(event["content_block"])
        delta = read_mapping(event.get("delta"))
        for field in ("thinking", "signature"):
            if field in delta and index in blocks:
                blocks[index][field] = read_text(blocks[index].get(field)) + delta[field]
    if blocks:
        return list(blocks.values())
    try:
        return read_objects(read_mapping(json.loads(body)).get("content"))
    except ValueError:
        return []


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": usage.output + usage.reasoning,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
        "service_tier": "standard",
    }
