"""Turns of a checked history as messages of Ollama's own API."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from ..wire.fields import JsonDict, fields_of
from ..wire.rules import HistoryRules, Writer
from ..wire.turn import SEPARATOR, Turn, split_result

_LATEST = ":latest"


@dataclass(frozen=True)
class OllamaRules(HistoryRules):
    """What a server accepts of a history."""

    @classmethod
    def of(cls, provider: str, model: str, *, vision: bool) -> OllamaRules:
        """Return the rules for one of its models."""
        media = frozenset({"image"} if vision else set[str]())
        return cls(provider, model, user_blocks=media, result_blocks=media, ends_with_user=True)

    def is_same_model(self, one: str, other: str) -> bool:
        """Whether two names mean the same model: without a tag the latest is meant."""
        return one.removesuffix(_LATEST) == other.removesuffix(_LATEST)

    def own_thinking(self, block: JsonDict, writer: Writer) -> JsonDict | None:
        """Return thinking of this model, unchanged."""
        text = block.get("thinking")
        if not self.is_of_model(writer) or not isinstance(text, str) or not text:
            return None
        return {"type": "thinking", "thinking": text}

    def can_send(self, block: JsonDict) -> bool:
        """Whether an image comes with its data, and in a form that models read."""
        source = fields_of(block.get("source"))
        return image_data(source) is not None and super().can_send(block)

    def pair_parts(self, parts: list[JsonDict]) -> list[JsonDict]:
        """Number the calls, as results differ by their order alone; leave out lone thinking."""
        for place, part in enumerate(parts):
            if part["type"] == "tool_call":
                part["place"] = place
        return parts if any(part["type"] != "thinking" for part in parts) else []


def messages_of(turn: Turn) -> list[JsonDict]:
    """Return a turn as one message or several."""
    return [_write_assistant(turn.parts)] if turn.role == "assistant" else _write_user(turn)


def image_data(source: JsonDict) -> str | None:
    """Return the data of an image; None where it has another form, such as an address."""
    data = source.get("data")
    if source.get("type") != "base64" or not isinstance(data, str) or not data:
        return None
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data


def _write_assistant(parts: list[JsonDict]) -> JsonDict:
    texts = [part["text"] for part in parts if part["type"] == "text"]
    message: JsonDict = {"role": "assistant", "content": SEPARATOR.join(texts)}
    thoughts = [part["thinking"] for part in parts if part["type"] == "thinking"]
    if thoughts:
        message["thinking"] = "".join(thoughts)
    calls = [_call(part) for part in parts if part["type"] == "tool_call"]
    if calls:
        message["tool_calls"] = calls
    return message


def _call(part: JsonDict) -> JsonDict:
    return {"function": {"name": part["name"], "arguments": part["input"]}}


def _write_user(turn: Turn) -> list[JsonDict]:
    messages: list[JsonDict] = []
    parts: list[JsonDict] = []
    for result in sorted(turn.results, key=lambda result: result.call.get("place", 0)):
        content, media = split_result(result)
        messages.append({"role": "tool", "tool_name": result.tool, "content": content})
        parts += media
    parts += turn.parts
    if not parts:
        return messages
    texts = [part["text"] for part in parts if part["type"] != "image"]
    user_message: JsonDict = {"role": "user", "content": SEPARATOR.join(texts)}
    images: list[Any] = [
        image_data(fields_of(part.get("source"))) for part in parts if part["type"] == "image"
    ]
    return [*messages, {**user_message, "images": images} if images else user_message]
