"""How many tokens a request has at most: what the service counted last, and what is new since.

A token is at least one byte of what is sent. What a service counted of the beginning of a
conversation is closer than its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

from amplifier_core.message_models import ChatRequest, ImageBlock, Message

IMAGE_TOKENS = 8_192
"""The most tokens of an image, whatever the length of its data."""
TOOL_TOKENS = 512
"""The most tokens that a service adds by itself to a request with tools."""
_MESSAGE_BYTES = 64
"""The most bytes that the form of a service adds to a message."""
_MOST_CONVERSATIONS = 8
"""Of which the last count is kept: sub-agents share a provider."""


def most_input_tokens(request: ChatRequest, size: int) -> int:
    """Return the most tokens of a request of so many bytes."""
    return size + _beside_bytes(request.messages) + (TOOL_TOKENS if request.tools else 0)


@dataclass(frozen=True)
class _Counted:
    """A request whose tokens the service has counted."""

    model: str
    messages: list[Message]
    tools: list[Any]
    size: int
    tokens: int


class InputCounts:
    """What a service counted of the last requests of each conversation."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._counted: tuple[_Counted, ...] = ()
        self._lock = Lock()

    def most_tokens(self, request: ChatRequest, model: str, size: int) -> int:
        """Return the most tokens of a request of so many bytes.

        Args:
            request: The request.
            model: The model that it names as it is sent.
            size: The bytes of what is sent.
        """
        with self._lock:
            counted = self._counted
        tools = list(request.tools or ())
        for last in reversed(counted):
            known = len(last.messages)
            if last.model != model or last.tools != tools:
                continue
            if request.messages[:known] != last.messages:
                continue
            new = request.messages[known:]
            written = sum(len(each.model_dump_json()) + _MESSAGE_BYTES for each in new)
            added = max(size - last.size, written) + _beside_bytes(new)
            return min(last.tokens + added, most_input_tokens(request, size))
        return most_input_tokens(request, size)

    def note(self, request: ChatRequest, model: str, size: int, tokens: int) -> None:
        """Take notice of the tokens that the service counted of a request."""
        counted = _Counted(model, list(request.messages), list(request.tools or ()), size, tokens)
        with self._lock:
            self._counted = (*self._counted[1 - _MOST_CONVERSATIONS :], counted)


def _beside_bytes(messages: list[Message]) -> int:
    """Return the tokens of images, less the bytes of their data."""
    tokens = 0
    for message in messages:
        if isinstance(message.content, str):
            continue
        for block in message.content:
            if isinstance(block, ImageBlock):
                data = block.source.get("data")
                length = len(data) if isinstance(data, str) else 0
                tokens += IMAGE_TOKENS - length
    return tokens
