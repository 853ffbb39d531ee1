"""Encoding of a conversation as `system` and `messages` of the Anthropic API.

The API requires alternating roles, the user first, and right after each assistant turn one result
for each of its tool calls. A history that was shortened, cancelled or written by another provider
rarely has this form, so it is repaired here, and each repair is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .blocks import (
    OF_ASSISTANT,
    OF_USER,
    JsonDict,
    arguments_of,
    blocks_of,
    encode_other,
    encode_redacted_thinking,
    encode_result,
    encode_text,
    encode_thinking,
    fields_of,
)
from .config import PROVIDER
from .models import is_same_model

MISSING_RESULT = "No result: the tool call was interrupted, and it is not known how far it got."
MISSING_BEGINNING = "(The beginning of this conversation is no longer available.)"

_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass
class Conversation:
    """The encoded history."""

    system: list[JsonDict] = field(default_factory=list[JsonDict])
    messages: list[JsonDict] = field(default_factory=list[JsonDict])
    repaired: list[str] = field(default_factory=list[str])
    """Ids of the tool calls that had no result and got a synthetic one."""
    dropped: list[str] = field(default_factory=list[str])
    """Ids of the tool results that answer no call of the turn before them."""
    left_out: list[str] = field(default_factory=list[str])
    """Types of the blocks that the API does not support and that have no text form."""


def encode_messages(messages: Iterable[Any], model: str) -> Conversation:
    """Encode a history for `model`.

    Args:
        messages: `Message` models or dicts of the same shape; foreign keys are tolerated, and
            `tool_calls` of an assistant message is read where its content does not hold them.
        model: The model that will read them; thinking signed for another one is left out.
    """
    turns = _Turns(model)
    for message in messages:
        turns.add(fields_of(message))
    return turns.finish()


class _Turns:
    """The turns written so far, and the user turn that is still open."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.done = Conversation()
        self.unanswered: dict[str, str] = {}
        """Calls of the last assistant turn without a result: our id to the id that is sent."""
        self.results: list[JsonDict] = []
        self.others: list[JsonDict] = []
        self.used_ids: set[str] = set()

    def add(self, message: JsonDict) -> None:
        content = message.get("content")
        match message.get("role"):
            case "system" | "developer":
                self.add_system(blocks_of(content))
            case "assistant":
                self.close_user_turn()
                self.add_assistant(message)
            case "tool" | "function":
                metadata = fields_of(message.get("metadata"))
                failed = bool(message.get("is_error") or metadata.get("is_error"))
                self.add_result(message.get("tool_call_id"), content, failed)
            case _:
                self.add_user(blocks_of(content))

    def add_system(self, blocks: list[JsonDict]) -> None:
        for block in blocks:
            if block.get("type") == "text":
                encoded = encode_text(block)
            else:
                encoded = encode_other(block, frozenset(), self.done.left_out)
            self.done.system.extend([encoded] if encoded else [])

    def add_user(self, blocks: list[JsonDict]) -> None:
        for block in blocks:
            match block.get("type"):
                case "tool_result":
                    self.add_result(
                        block.get("tool_call_id", block.get("tool_use_id")),
                        block.get("output", block.get("content")),
                        bool(block.get("is_error")),
                    )
                case "text":
                    encoded = encode_text(block)
                    self.others.extend([encoded] if encoded else [])
                case "thinking" | "redacted_thinking" | "tool_call" | "tool_use":
                    pass  # valid in assistant messages only
                case _:
                    encoded = encode_other(block, OF_USER, self.done.left_out)
                    self.others.extend([encoded] if encoded else [])

    def add_result(self, call_id: Any, output: Any, is_error: bool) -> None:
        wire_id = self.unanswered.pop(call_id, None) if isinstance(call_id, str) else None
        if wire_id is None:
            self.done.dropped.append(str(call_id))
        else:
            self.results.append(encode_result(wire_id, output, is_error))

    def add_assistant(self, message: JsonDict) -> None:
        foreign = _is_foreign(message.get("metadata"), self.model)
        encoded: list[JsonDict | None] = []
        for block in blocks_of(message.get("content")):
            match block.get("type"):
                case "text":
                    encoded.append(encode_text(block))
                case "thinking":
                    encoded.append(None if foreign else encode_thinking(block))
                case "redacted_thinking":
                    encoded.append(None if foreign else encode_redacted_thinking(block))
                case "tool_call" | "tool_use":
                    encoded.append(self.add_call(block))
                case "tool_result":
                    pass  # valid in user messages only
                case _:
                    encoded.append(encode_other(block, OF_ASSISTANT, self.done.left_out))
        encoded.extend(self.add_call(call) for call in blocks_of(message.get("tool_calls")))
        self.append("assistant", [block for block in encoded if block is not None])

    def append(self, role: str, content: list[JsonDict]) -> None:
        """Write a turn; neighbouring turns of one role are merged."""
        messages = self.done.messages
        if content and messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(content)
        elif content:
            messages.append({"role": role, "content": content})

    def add_call(self, call: JsonDict) -> JsonDict | None:
        call_id = call.get("id")
        name = call.get("name") or call.get("tool")
        if not isinstance(call_id, str) or not isinstance(name, str):
            return None
        if call_id in self.unanswered:
            return None  # the same call again, in `content` and in `tool_calls`
        wire: JsonDict = {
            "type": "tool_use",
            "id": self.new_wire_id(call_id),
            "name": name,
            "input": arguments_of(call),
        }
        if call.get("caller"):
            wire["caller"] = call["caller"]
        self.unanswered[call_id] = wire["id"]
        return wire

    def new_wire_id(self, call_id: str) -> str:
        """Return a unique id made of the characters that the API allows."""
        base = _NOT_IN_IDS.sub("_", call_id) or "call"
        wire_id, number = base, 2
        while wire_id in self.used_ids:
            wire_id, number = f"{base}_{number}", number + 1
        self.used_ids.add(wire_id)
        return wire_id

    def close_user_turn(self) -> None:
        for call_id, wire_id in self.unanswered.items():
            self.done.repaired.append(call_id)
            self.results.append(encode_result(wire_id, MISSING_RESULT, is_error=True))
        self.append("user", self.results + self.others)
        self.unanswered, self.results, self.others = {}, [], []

    def finish(self) -> Conversation:
        self.close_user_turn()
        messages = self.done.messages
        if messages and messages[0]["role"] == "assistant":
            text = {"type": "text", "text": MISSING_BEGINNING}
            messages.insert(0, {"role": "user", "content": [text]})
        if messages and messages[-1]["role"] == "assistant":
            last = messages[-1]["content"][-1]
            if last["type"] == "text":
                last["text"] = last["text"].rstrip()  # the API refuses blanks at the very end
        return self.done


def _is_foreign(metadata: Any, model: str) -> bool:
    """Return whether another provider or model wrote, and signed, the message."""
    known = fields_of(metadata)
    if known.get("provider", PROVIDER) != PROVIDER:
        return True
    writers = [
        known[key] for key in ("requested_model", "model") if isinstance(known.get(key), str)
    ]
    return bool(writers) and not any(is_same_model(writer, model) for writer in writers)
