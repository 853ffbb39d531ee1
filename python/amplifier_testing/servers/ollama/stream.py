"""Answers as Ollama sends them: an object a line, or one object."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..serving.answer import Answer, Block, Call, Declined, RedactedThinking, Text, Thinking
from ..serving.reading import Json

_CREATED = "2026-01-01T00:00:00.123456789Z"
_REASONS = {"max_tokens": "length"}


def encode_line(value: Json) -> bytes:
    """Encode an object as one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def stream_lines(answer: Answer, model: str, *, thinks: bool) -> Iterator[Json]:
    """Yield the lines of an answer; its thoughts only if they are asked for."""
    for part in answer.parts:
        match part:
            case Text(text) | Declined(text):
                for piece in answer.fragments(text):
                    yield _write_line(model, {"content": piece})
            case Thinking(thought) if thinks:
                for piece in answer.fragments(thought):
                    yield _write_line(model, {"content": "", "thinking": piece})
            case Thinking() | RedactedThinking():
                pass
            case Call():
                yield _write_line(model, {"content": "", "tool_calls": [_call_entry(part)]})
            case Block(value):
                yield _write_line(model, {"content": "", **value})
    yield {**_write_line(model, {"content": ""}), **_end(answer)}


def compose(answer: Answer, model: str, *, thinks: bool) -> Json:
    """Return an answer as one object."""
    message: Json = {"role": "assistant", "content": ""}
    for line in stream_lines(answer, model, thinks=thinks):
        for key, value in line["message"].items():
            if key != "role":
                message[key] = message[key] + value if key in message else value
    return {**_write_line(model, message), **_end(answer)}


def _write_line(model: str, message: Json) -> Json:
    named = {"role": "assistant", **message}
    return {"model": model, "created_at": _CREATED, "message": named, "done": False}


def _end(answer: Answer) -> Json:
    usage, stop = answer.usage, answer.stop or "stop"
    # What is cached is not counted, and a count of nothing is left out.
    counts = {"prompt_eval_count": usage.input, "eval_count": usage.output + usage.reasoning}
    return {
        "done": True,
        "done_reason": _REASONS.get(stop, stop),
        "total_duration": 1_897_385_625,
        "load_duration": 1_631_208,
        **{key: count for key, count in counts.items() if count},
        "prompt_eval_duration": 313_560_000,
        "eval_duration": 1_577_990_000,
    }


def _call_entry(call: Call) -> Json:
    given = call.arguments
    arguments = given if isinstance(given, str) else dict(given)
    named = {"id": call.id} if call.id else {}
    return {**named, "function": {"name": call.name, "arguments": arguments}}
