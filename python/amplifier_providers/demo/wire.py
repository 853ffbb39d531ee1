"""An answer on the Anthropic wire: as one JSON object, or as the events of a stream."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_WORDS = re.compile(r"\s*\S+\s*\S*")
_FRAGMENT_CHARS = 12
_CHARACTERS_PER_TOKEN = 4

Event = dict[str, Any]


class Signer:
    """Signs thinking and verifies its signatures.

    One API key signs alike in every process, so that a conversation can go on in another one.
    """

    def __init__(self, api_key: str) -> None:
        """Sign with this key."""
        self._secret = api_key.encode()

    def sign(self, thinking: str) -> str:
        """Return the signature of a thinking text."""
        digest = hmac.digest(self._secret, thinking.encode("utf-8", "replace"), hashlib.sha256)
        return base64.b64encode(digest).decode()

    def is_signed(self, thinking: str, signature: str) -> bool:
        """Return whether `signature` is that of exactly this text."""
        expected = self.sign(thinking).encode()
        return hmac.compare_digest(expected, signature.encode("utf-8", "replace"))


@dataclass(frozen=True)
class Call:
    """A tool call."""

    id: str
    name: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The answer of the model: thinking, then text, then calls; each may be empty."""

    thinking: str
    text: str
    calls: list[Call]

    @property
    def stop_reason(self) -> str:
        """Why the model stops."""
        return "tool_use" if self.calls else "end_turn"


def new_call(name: str, arguments: dict[str, Any]) -> Call:
    """Make a call with a new id."""
    return Call(f"toolu_{secrets.token_hex(12)}", name, arguments)


def message(answer: Answer, model: str, input_size: int, signer: Signer) -> dict[str, Any]:
    """Return `answer` as one message.

    Args:
        answer: What to say.
        model: The name of the model that says it.
        input_size: Characters of the request; tokens are estimated, four characters to one.
        signer: Signs the thinking.
    """
    content: list[dict[str, Any]] = []
    if answer.thinking:
        signature = signer.sign(answer.thinking)
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": signature})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}
        for call in answer.calls
    ]
    thought = _tokens(answer.thinking)
    said = _tokens(answer.text) + sum(_tokens(json.dumps(call.input)) for call in answer.calls)
    return {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(1, input_size // _CHARACTERS_PER_TOKEN),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": thought + said,
            "output_tokens_details": {"thinking_tokens": thought},
            "service_tier": "standard",
        },
    }


def stream_events(complete: dict[str, Any]) -> Iterator[Event]:
    """Return the events of the stream for the message `complete`."""
    usage = complete["usage"]
    begun = {key: usage[key] for key in usage if key != "output_tokens_details"}
    opening: Event = {**complete, "content": [], "stop_reason": None}
    opening["usage"] = {**begun, "output_tokens": 1}
    yield {"type": "message_start", "message": opening}
    yield {"type": "ping"}
    for index, block in enumerate(complete["content"]):
        yield {"type": "content_block_start", "index": index, "content_block": _empty(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        yield {"type": "ping"}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": complete["stop_reason"], "stop_sequence": None},
        "usage": usage,
    }
    yield {"type": "message_stop"}


def encode_event(event: Event) -> bytes:
    """Encode one event as a server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _empty(block: dict[str, Any]) -> dict[str, Any]:
    match block["type"]:
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "text":
            return {"type": "text", "text": ""}
        case _:
            return {**block, "input": {}}


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "thinking":
            for part in _parts(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": part}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "text":
            for part in _parts(block["text"]):
                yield {"type": "text_delta", "text": part}
        case _:
            written = json.dumps(block["input"])
            yield {"type": "input_json_delta", "partial_json": ""}
            for start in range(0, len(written), _FRAGMENT_CHARS):
                fragment = written[start : start + _FRAGMENT_CHARS]
                yield {"type": "input_json_delta", "partial_json": fragment}


def _parts(whole: str) -> list[str]:
    """Split a text into pieces of a word or two; joined they are the same text."""
    parts = _WORDS.findall(whole)
    rest = whole[sum(map(len, parts)) :]
    return [*parts, rest] if rest else parts


def _tokens(written: str) -> int:
    return -(-len(written) // _CHARACTERS_PER_TOKEN)
