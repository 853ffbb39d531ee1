"""Chat Completions from Python: what a provider of it builds on."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import StreamDecoder, StreamResult

Delta = dict[str, Any]


def chunk(delta: Delta, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "chatcmpl-1", "model": "gpt", "created": 7, "choices": [choice], **more}


def wire(*chunks: dict[str, Any], end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


def call(arguments: str, index: int = 0, **more: Any) -> Delta:
    function = {"arguments": arguments, **more.pop("function", {})}
    return {"tool_calls": [{"index": index, "function": function, **more}]}


def test_a_finish_reason_ends_a_body_that_is_known_to_be_whole() -> None:
    body = wire(chunk(call("{}", id="a", function={"name": "f"})), chunk({}, "tool_calls"), end="")

    def finished(**known: bool) -> tuple[bool, Any]:
        decoder = StreamDecoder("chat")
        decoder.feed(body)
        result = decoder.finish(**known)
        return result.truncated, result.blocks[0]["arguments"]

    assert finished(body_is_whole=True) == (False, {})
    assert finished() == finished(body_is_whole=False) == (True, None)


USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 6,
    "total_tokens": 15,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
TURN = [
    chunk({"role": "assistant", "content": None, "reasoning_content": "Hm."}),
    chunk({"content": "Looking."}),
    chunk(call("", id="call_1", type="function", function={"name": "look"})),
    chunk(call('{"path": "a.md", "n": 1234567890123')),
    chunk(call("4567890}")),
    chunk({}, "tool_calls"),
    {"id": "chatcmpl-1", "model": "gpt", "created": 7, "choices": [], "usage": USAGE},
]
BLOCKS = [
    {"type": "thinking", "thinking": "Hm.", "signature": None},
    {"type": "text", "text": "Looking."},
    {
        "type": "tool_call",
        "id": "call_1",
        "name": "look",
        "arguments": {"path": "a.md", "n": 12345678901234567890},
        "raw_arguments": '{"path": "a.md", "n": 12345678901234567890}',
        "error": None,
    },
]


def decode(body: bytes, **response: Any) -> StreamResult:
    decoder = StreamDecoder("chat", **response)
    decoder.feed(body)
    return decoder.finish()


def test_the_result_holds_the_whole_answer() -> None:
    result = decode(wire(*TURN), headers={"X-Request-ID": "req_1"})
    names = [name for name in dir(StreamResult) if not name.startswith("_")]
    assert {name: getattr(result, name) for name in names} == {
        "blocks": BLOCKS,
        "usage": {
            "input_tokens": 5,
            "cache_read_tokens": 4,
            "cache_write_tokens": None,
            "output_tokens": 4,
            "reasoning_tokens": 2,
        },
        "raw_usage": USAGE,
        "stop_reason": "tool_use",
        "raw_stop_reason": "tool_calls",
        "stop_sequence": None,
        "id": "chatcmpl-1",
        "model": "gpt",
        "request_id": "req_1",
        "metadata": {"created": 7},
        "truncated": False,
        "error": None,
        "findings": [],
        "events": [],
    }


def test_blocks_are_told_while_they_arrive_and_calls_end_with_the_answer() -> None:
    decoder = StreamDecoder("chat")
    told = [
        [
            (event.event.removeprefix("content_block:"), event.block_type, event.block_index)
            for event in decoder.feed(body)
        ]
        for body in [*(wire(chunk, end="") for chunk in TURN), b"data: [DONE]\n\n"]
    ]
    thinking, text, tool_call = ("thinking", 0), ("text", 1), ("tool_call", 2)
    assert told == [
        [("start", *thinking), ("delta", *thinking)],
        [("end", *thinking), ("start", *text), ("delta", *text)],
        [("end", *text), ("start", *tool_call)],
        [("delta", *tool_call)],
        [("delta", *tool_call)],
        [],
        [],
        [("end", *tool_call)],
    ]


def test_arguments_can_be_seen_while_they_arrive() -> None:
    decoder = StreamDecoder("chat")
    decoder.feed(wire(*TURN[:4], end=""))
    assert decoder.partial_arguments(2) == {"path": "a.md"}
    assert decoder.partial_arguments(1) is None


def test_other_choices_are_in_the_metadata_and_run_nothing() -> None:
    second = {"index": 1, "delta": call("{}", id="b", function={"name": "look"})}
    result = decode(wire(chunk({"content": "first"}), {"choices": [second]}))
    assert result.blocks == [{"type": "text", "text": "first"}]
    [choice] = result.metadata["choices"]
    assert (choice["index"], choice["finish_reason"]) == (1, None)
    [refused] = choice["blocks"]
    assert (refused["arguments"], refused["error"]) == (None, "the call belongs to another choice")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            b'data: {"error": {"code": 429, "message": "slow down"}}\n\n',
            {"type": "rate_limit_error", "code": "429", "message": "slow down", "retryable": True},
        ),
        (
            (
                b'event: error\ndata: {"error": {"message": "bad", "type": "invalid_request_error",'
                b' "code": "tool_use_failed", "status_code": 400}}\n\n'
            ),
            {
                "type": "invalid_request_error",
                "code": "tool_use_failed",
                "message": "bad",
                "retryable": False,
            },
        ),
    ],
)
def test_an_error_under_status_200_is_an_error(body: bytes, error: dict[str, Any]) -> None:
    result = decode(wire(*TURN[:5], end="") + body)
    assert result.error is not None
    assert {key: result.error[key] for key in error} == error
    assert (result.truncated, result.blocks[-1]["arguments"]) == (True, None)


@given(cut=st.integers(0, len(wire(*TURN)) - 2))
def test_a_stream_cut_short_is_truncated_and_runs_nothing(cut: int) -> None:
    result = decode(wire(*TURN)[:cut])
    assert result.truncated
    assert all(block.get("arguments") is None for block in result.blocks)


@given(cuts=st.lists(st.integers(0, len(wire(*TURN))), max_size=6))
def test_chunk_boundaries_do_not_matter(cuts: list[int]) -> None:
    body = wire(*TURN)
    places = [0, *sorted(cuts), len(body)]
    decoder = StreamDecoder("chat")
    for begin, end in itertools.pairwise(places):
        decoder.feed(body[begin:end])
    assert decoder.finish() == decode(body)
