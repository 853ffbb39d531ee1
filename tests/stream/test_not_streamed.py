"""A success whose body is one document, although a stream was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_stream import StreamDecoder, StreamResult

STREAMS_OF_EVENTS = ("anthropic", "responses", "chat")


def decode(dialect: str, body: bytes, size: int) -> StreamResult:
    decoder = StreamDecoder(dialect, 200, {"retry-after": "3"})
    for place in range(0, len(body), size):
        assert decoder.feed(body[place : place + size]) == []
    return decoder.finish()


@pytest.mark.parametrize("dialect", STREAMS_OF_EVENTS)
@pytest.mark.parametrize("size", [1, 1000])
def test_an_error_under_200_is_an_error_with_its_message(dialect: str, size: int) -> None:
    body = {"error": {"type": "overloaded_error", "message": "Busy"}}
    result = decode(dialect, json.dumps(body, indent=1).encode(), size)
    assert result.error == {
        "type": "overloaded_error",
        "code": None,
        "status": 200,
        "message": "Busy",
        "retryable": True,
        "retry_after": 3.0,
    }
    assert result.blocks == []


WHOLE: dict[str, Any] = {
    "anthropic": {
        "type": "message",
        "content": [{"type": "tool_use", "id": "c", "name": "read", "input": {"path": "a.md"}}],
        "stop_reason": "tool_use",
    },
    "responses": {
        "object": "response",
        "status": "completed",
        "output": [
            {
                "type": "function_call",
                "call_id": "c",
                "name": "read",
                "arguments": '{"path":"a.md"}',
            }
        ],
    },
    "chat": {
        "object": "chat.completion",
        "choices": [
            {
                "finish_reason": "tool_calls",
                "message": {
                    "tool_calls": [
                        {"id": "c", "function": {"name": "read", "arguments": '{"path":"a.md"}'}}
                    ]
                },
            }
        ],
    },
}


@pytest.mark.parametrize("dialect", STREAMS_OF_EVENTS)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_whole_answer_is_decoded_as_if_it_had_been_streamed(dialect: str, size: int) -> None:
    result = decode(dialect, json.dumps(WHOLE[dialect]).encode(), size)
    (block,) = result.blocks
    assert (block["id"], block["name"], block["arguments"]) == ("c", "read", {"path": "a.md"})
    assert (result.stop_reason, result.truncated, result.error) == ("tool_use", False, None)
    assert [finding["type"] for finding in result.findings] == ["not_streamed"]
    assert [event.event for event in result.events][-1] == "content_block:end"


@pytest.mark.parametrize("dialect", STREAMS_OF_EVENTS)
def test_a_whole_answer_that_is_cut_runs_nothing(dialect: str) -> None:
    body = json.dumps(WHOLE[dialect]).encode()
    for end in range(1, len(body)):
        result = decode(dialect, body[:end], 1000)
        assert result.truncated
        assert result.error is not None
        assert result.blocks == []
