"""An answer in the dialect: as one response, and as the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

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
from ..serving.reading import Json, read_mapping, read_objects

_CREATED = 1_750_000_000
_ECHOED: Json = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""What a response repeats of its request, and what it says instead."""


def compose(
    answer: Answer,
    body: Json,
    new_id: Callable[[str], str],
    encrypt: Callable[[str, str], str],
) -> Json:
    """Return an answer as one response.

    Args:
        answer: What to say.
        body: The request.
        new_id: Makes an id that begins so.
        encrypt: Makes the encrypted content of reasoning, of its id and its text.
    """
    is_encrypted = "reasoning.encrypted_content" in (body.get("include") or [])
    output: list[Json] = []
    for index, part in enumerate(answer.parts):
        later_calls = any(isinstance(each, Call) for each in answer.parts[index:])
        phase = "commentary" if later_calls else "final_answer"
        match part:
            case Text(text):
                content: Json = {"type": "output_text", "text": text}
                content |= {"annotations": [], "logprobs": []}
                output.append(_write_message(new_id("msg_"), phase, content))
            case Declined(text):
                refusal = {"type": "refusal", "refusal": text}
                output.append(_write_message(new_id("msg_"), phase, refusal))
            case Thinking(thought) | RedactedThinking(thought):
                name = new_id("rs_")
                summary = [{"type": "summary_text", "text": thought}]
                shown = summary if isinstance(part, Thinking) else []
                item: Json = {"id": name, "type": "reasoning", "summary": shown}
                if is_encrypted:
                    item["encrypted_content"] = encrypt(name, thought)
                output.append(item)
            case Call(name, arguments, given):
                called: Json = {
                    "id": new_id("fc_"),
                    "type": "function_call",
                    "status": "completed",
                    "arguments": arguments if isinstance(arguments, str) else _compact(arguments),
                    "call_id": given or new_id("call_"),
                    "name": name,
                }
                output.append(called)
            case Block(value):
                output.append(dict(value))
    response: Json = {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": _CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": body["model"],
        "output": output,
        **{name: body.get(name, usual) for name, usual in _ECHOED.items()},
        "usage": _write_usage(answer.usage),
    }
    if answer.stop == "failed":
        error = {"code": "server_error", "message": "The model failed to answer."}
        response |= {"status": "failed", "error": error, "output": [], "usage": None}
    elif answer.stop not in {None, "completed"}:
        response |= {"status": "incomplete", "incomplete_details": {"reason": answer.stop}}
        if output and "status" in output[-1]:
            output[-1]["status"] = "incomplete"
    return response


def stream_events(response: Json, answer: Answer) -> Iterator[Json]:
    """Yield the events of a response, numbered.

    Args:
        response: The response.
        answer: What it was made of: how long fragments are.
    """
    opening: Json = {**response, "status": "in_progress", "output": [], "usage": None}
    opening |= {"error": None, "incomplete_details": None}
    kinds = ["response.created", "response.in_progress"]
    if response.get("background"):
        kinds.insert(1, "response.queued")
    events: list[Json] = [{"type": kind, "response": opening} for kind in kinds]
    for index, item in enumerate(response["output"]):
        at: Json = {"output_index": index}
        events.append({"type": "response.output_item.added", **at, "item": _begin_item(item)})
        inside = {"item_id": item.get("id"), **at}
        events += [
            {"type": f"response.{event.pop('type')}", **inside, **event}
            for event in _write_inner_events(item, answer)
        ]
        events.append({"type": "response.output_item.done", **at, "item": item})
    events.append({"type": f"response.{response['status']}", "response": response})
    for number, event in enumerate(events):
        yield {"type": event["type"], "sequence_number": number, **event}


def recorded_items(body: bytes) -> list[Json]:
    """Return the output items of a recorded body, a stream or one response."""
    ended = [
        read_mapping(event.get("item"))
        for event in read_events(body)
        if event.get("type") == "response.output_item.done"
    ]
    if ended:
        return ended
    try:
        return read_objects(read_mapping(json.loads(body)).get("output"))
    except ValueError:
        return []


def _write_message(name: str, phase: str, part: Json) -> Json:
    return {
        "id": name,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
        "phase": phase,
    }


def _begin_item(item: Json) -> Json:
    """Return an item as it is when it begins."""
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case "reasoning" if item.get("encrypted_content"):
            # What is there at first is not yet what must come back.
            partial = f"{item['encrypted_content'][:16]}-partial"
            return {**item, "summary": [], "encrypted_content": partial}
        case "reasoning":
            return {**item, "summary": []}
        case _:
            return item


def _write_inner_events(item: Json, answer: Answer) -> Iterator[Json]:
    """Yield the events between the beginning and the end of an item."""
    match item["type"]:
        case "message":
            for index, part in enumerate(item["content"]):
                yield from _of_part(part, {"content_index": index}, answer)
        case "reasoning":
            for index, part in enumerate(item["summary"]):
                at = {"summary_index": index}
                kind = "reasoning_summary"
                yield {"type": f"{kind}_part.added", **at, "part": {**part, "text": ""}}
                for piece in answer.fragments(part["text"]):
                    padding = {"obfuscation": "x" * (len(piece) % 5)}
                    yield {"type": f"{kind}_text.delta", **at, "delta": piece, **padding}
                yield {"type": f"{kind}_text.done", **at, "text": part["text"]}
                yield {"type": f"{kind}_part.done", **at, "part": part}
        case "function_call":
            for piece in answer.fragments(item["arguments"]):
                yield {"type": "function_call_arguments.delta", "delta": piece}
            yield {"type": "function_call_arguments.done", "arguments": item["arguments"]}
        case _:
            return


def _of_part(part: Json, at: Json, answer: Answer) -> Iterator[Json]:
    field = "refusal" if part["type"] == "refusal" else "text"
    kind = "refusal" if field == "refusal" else "output_text"
    logprobs: Json = {} if field == "refusal" else {"logprobs": []}
    yield {"type": "content_part.added", **at, "part": {**part, field: ""}}
    for piece in answer.fragments(part[field]):
        padding = {"obfuscation": "x" * (len(piece) % 5)}
        yield {"type": f"{kind}.delta", **at, "delta": piece, **logprobs, **padding}
    yield {"type": f"{kind}.done", **at, field: part[field], **logprobs}
    yield {"type": "content_part.done", **at, "part": part}


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_usage(usage: Usage) -> Json:
    given = usage.input + usage.cache_read + usage.cache_write
    written = usage.output + usage.reasoning
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": given + written,
    }
