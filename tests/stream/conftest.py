"""Streams written here, event by event."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Event = dict[str, Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def wire() -> Callable[[list[Event]], bytes]:
    """Write Anthropic events as the bytes of a stream."""

    def write(events: list[Event]) -> bytes:
        return b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
        )

    return write


@pytest.fixture
def tool_turn() -> list[Event]:
    """An answer that thinks, speaks and calls a tool."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-demo",
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 1},
    }
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    call = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}

    def start(index: int, block: Event) -> Event:
        return {"type": "content_block_start", "index": index, "content_block": block}

    def delta(index: int, kind: str, key: str, text: str) -> Event:
        delta = {"type": kind, key: text}
        return {"type": "content_block_delta", "index": index, "delta": delta}

    def stop(index: int) -> Event:
        return {"type": "content_block_stop", "index": index}

    return [
        {"type": "message_start", "message": message},
        start(0, thinking),
        delta(0, "thinking_delta", "thinking", "Let me "),
        delta(0, "thinking_delta", "thinking", "look 😀"),
        delta(0, "signature_delta", "signature", "c2ln"),
        stop(0),
        {"type": "ping"},
        start(1, {"type": "text", "text": ""}),
        delta(1, "text_delta", "text", "Looking."),
        stop(1),
        start(2, call),
        delta(2, "input_json_delta", "partial_json", ""),
        delta(2, "input_json_delta", "partial_json", '{"path": "a.md", "n": 12345678901'),
        delta(2, "input_json_delta", "partial_json", "234567890}"),
        stop(2),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 20},
        },
        {"type": "message_stop"},
    ]
