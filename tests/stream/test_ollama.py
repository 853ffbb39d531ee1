"""Ollama's own chat from Python: what a provider of it builds on."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import StreamDecoder, StreamEvent, StreamLimitError, StreamResult


def line(done: bool = False, **message: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "", **message}
    return {"model": "llama", "created_at": "2026-01-01T00:00:00Z", "message": message} | {
        "done": done
    }


def wire(*lines: dict[str, Any]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


COUNTS = {"prompt_eval_count": 11, "eval_count": 5, "total_duration": 900}
TURN = [
    line(thinking="Hm."),
    line(content="Looking."),
    line(tool_calls=[{"function": {"name": "look", "arguments": {"path": "a.md"}}}]),
    line(done=True) | {"done_reason": "stop", **COUNTS},
]
BLOCKS = [
    {"type": "thinking", "thinking": "Hm.", "signature": None},
    {"type": "text", "text": "Looking."},
    {
        "type": "tool_call",
        "id": None,
        "name": "look",
        "arguments": {"path": "a.md"},
        "raw_arguments": '{"path": "a.md"}',
        "error": None,
    },
]


def decode(*chunks: bytes) -> tuple[list[StreamEvent], StreamResult]:
    decoder = StreamDecoder("ollama")
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    result = decoder.finish()
    return events + result.events, result


def told(events: list[StreamEvent]) -> list[dict[str, Any]]:
    return [
        {"event": event.event}
        | {key: value for key, value in event.data.items() if key != "timestamp"}
        for event in events
    ]


def test_the_result_holds_the_whole_answer() -> None:
    _, result = decode(wire(*TURN))
    names = [name for name in dir(StreamResult) if not name.startswith("_")]
    assert {name: getattr(result, name) for name in names} == {
        "blocks": BLOCKS,
        "usage": {
            "input_tokens": 11,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
            "output_tokens": 5,
            "reasoning_tokens": None,
        },
        "raw_usage": COUNTS,
        "stop_reason": "tool_use",
        "raw_stop_reason": "stop",
        "stop_sequence": None,
        "id": None,
        "model": "llama",
        "request_id": None,
        "metadata": {"created_at": "2026-01-01T00:00:00Z"},
        "truncated": False,
        "error": None,
        "findings": [],
        "events": [],
    }


def test_what_a_last_line_without_its_end_completes_comes_with_the_result() -> None:
    lines = [TURN[1], TURN[3]]
    events, ended = decode(wire(*lines))
    same_events, result = decode(wire(*lines)[:-1])
    assert told(same_events) == told(events)
    assert told(result.events) == [
        {
            "event": "content_block:end",
            "block_type": "text",
            "block_index": 0,
            "block": BLOCKS[1],
        }
    ]
    assert (result.truncated, result.blocks) == (False, ended.blocks)


def test_an_error_line_is_an_error() -> None:
    _, result = decode(wire(TURN[2], {"error": "model runner has stopped"}))
    assert result.error is not None
    assert (result.error["status"], result.error["message"]) == (200, "model runner has stopped")
    assert result.blocks[0]["arguments"] is None


def test_a_broken_limit_raises_and_is_the_error_of_the_result() -> None:
    decoder = StreamDecoder("ollama", max_line_bytes=500)
    with pytest.raises(StreamLimitError):
        decoder.feed(b" " * 501)
    result = decoder.finish()
    assert result.error is not None
    assert (result.error["type"], result.truncated) == ("stream_limit", True)


@given(cut=st.integers(0, len(wire(*TURN)) - 2))
def test_a_stream_cut_short_is_truncated_and_runs_nothing(cut: int) -> None:
    _, result = decode(wire(*TURN)[:cut])
    assert result.truncated
    assert all(block.get("arguments") is None for block in result.blocks)


@given(cuts=st.lists(st.integers(0, len(wire(*TURN))), max_size=6))
def test_chunk_boundaries_do_not_matter(cuts: list[int]) -> None:
    body = wire(*TURN)
    places = [0, *sorted(cuts), len(body)]
    chunks = [body[begin:end] for begin, end in itertools.pairwise(places)]
    events, result = decode(*chunks)
    whole_events, whole = decode(body)
    assert (told(events), result) == (told(whole_events), whole)
