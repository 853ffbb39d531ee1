"""Calls past the limit of an answer are refused by name; of endless ones few are held."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_stream import (
    AgentEvent,
    StreamChunk,
    StreamDecoder,
    ToolCallEndEvent,
    decoded_chunks_sync,
    process_stream_sync,
)

REFUSAL = "an answer can have at most 2 tool calls"


def write_calls(count: int) -> bytes:
    calls = [
        {"index": index, "id": f"id{index}", "function": {"name": "look", "arguments": "{}"}}
        for index in range(count)
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
    return b"".join(
        f"data: {json.dumps(each)}\n\n".encode() for each in [*chunks, "[DONE]"]
    ).replace(b'"[DONE]"', b"[DONE]")


# Holds: stream-8
@pytest.mark.parametrize("limited", ["decoder", "process_stream"])
def test_calls_past_the_limit_are_refused_by_name(limited: str) -> None:
    limits = (2, 128) if limited == "decoder" else (128, 2)
    decoder = StreamDecoder("chat", max_calls=limits[0])
    result = process_stream_sync(
        decoded_chunks_sync([write_calls(4)], decoder), print, tool_tags=None, max_calls=limits[1]
    )
    assert [(call.id, call.name, call.arguments, call.error) for call in result.calls] == [
        ("id0", "look", {}, None),
        ("id1", "look", {}, None),
        ("id2", "look", None, REFUSAL),
        ("id3", "look", None, REFUSAL),
    ]


# Holds: stream-8
def test_of_endless_calls_in_tags_few_are_reported_and_held() -> None:
    text = '<tool>{"tool_name": "look", "arguments": {}}</tool>' * 1_000 + "done"
    events: list[AgentEvent] = []
    result = process_stream_sync([StreamChunk(text, finished=True)], events.append, max_calls=2)
    assert sum(isinstance(event, ToolCallEndEvent) for event in events) == 18
    assert [call.error for call in result.calls] == [None] * 2 + [REFUSAL] * 16
    assert result.assistant_content == "done"


# Holds: stream-8
def test_of_endless_calls_few_are_reported_and_held() -> None:
    def decode(count: int) -> tuple[int, list[dict[str, Any]]]:
        decoder = StreamDecoder("chat", max_calls=2)
        events = decoder.feed(write_calls(count))
        return len(events), decoder.finish().blocks

    assert decode(2_000) == decode(18)
