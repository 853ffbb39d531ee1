"""Recorded streams told to an agent: the same content as in their results, also in tiny pieces."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_stream import (
    AgentEvent,
    MessageContentEvent,
    StreamDecoder,
    ThinkingContentEvent,
    decoded_chunks_sync,
    process_stream_sync,
)


@pytest.mark.parametrize("size", [7, 1_000_000])
def test_a_recorded_stream_is_told_to_an_agent_whole(stream: Any, size: int) -> None:
    pieces = [stream.body[at : at + size] for at in range(0, len(stream.body), size)]
    events: list[AgentEvent] = []
    decoder = StreamDecoder(stream.dialect, stream.status)
    chunks = decoded_chunks_sync(pieces, decoder)
    told = process_stream_sync(chunks, events.append, tool_tags=None)

    _, result = stream.decode()
    text = "".join(block["text"] for block in result.blocks if block["type"] == "text")
    calls = [block for block in result.blocks if block["type"] == "tool_call"]
    has_failed = result.truncated or result.error is not None
    assert told.assistant_content == text
    assert told.error == result.error
    assert told.truncated is has_failed
    assert [(call.id, call.name, call.arguments) for call in told.calls] == [
        (call["id"], call["name"], call["arguments"]) for call in calls
    ]
    said = [event.content for event in events if isinstance(event, MessageContentEvent)]
    assert "".join(said) == text
    thought = [event.content for event in events if isinstance(event, ThinkingContentEvent)]
    assert "".join(thought) == told.thinking_content
