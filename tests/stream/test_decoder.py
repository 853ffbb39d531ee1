"""Whole responses from Python: events, results and misuse."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from amplifier_stream import StreamDecoder, StreamEvent, StreamLimitError, decode_error

Wire = Callable[[list[dict[str, Any]]], bytes]

THINKING = {"type": "thinking", "thinking": "Let me look 😀", "signature": "c2ln"}
TEXT = {"type": "text", "text": "Looking."}
CALL = {
    "type": "tool_call",
    "id": "toolu_1",
    "name": "read_file",
    "arguments": {"path": "a.md", "n": 12345678901234567890},
    "raw_arguments": '{"path": "a.md", "n": 12345678901234567890}',
    "error": None,
}


def timeless(event: StreamEvent) -> dict[str, Any]:
    return {key: value for key, value in event.data.items() if key != "timestamp"}


def test_each_event_has_its_flat_payload(wire: Wire, tool_turn: list[dict[str, Any]]) -> None:
    events = StreamDecoder("anthropic").feed(wire(tool_turn))

    def payload(kind: str, index: int, **more: object) -> dict[str, object]:
        return {"block_type": kind, "block_index": index, **more}

    assert [timeless(event) for event in events] == [
        payload("thinking", 0, metadata={}),
        payload("thinking", 0, delta="Let me "),
        payload("thinking", 0, delta="look 😀"),
        payload("thinking", 0, block=THINKING),
        payload("text", 1, metadata={}),
        payload("text", 1, delta="Looking."),
        payload("text", 1, block=TEXT),
        payload("tool_call", 2, metadata={"id": "toolu_1", "name": "read_file"}),
        payload("tool_call", 2, partial_json=""),
        payload("tool_call", 2, partial_json='{"path": "a.md", "n": 12345678901'),
        payload("tool_call", 2, partial_json="234567890}"),
        payload("tool_call", 2, block=CALL),
    ]
    kinds = [event.event.removeprefix("content_block:") for event in events]
    tail = ["start", "delta", "delta", "delta", "end"]
    assert kinds == ["start", "delta", "delta", "end", "start", "delta", "end", *tail]


def test_the_fields_of_an_event_are_attributes_too(
    wire: Wire, tool_turn: list[dict[str, Any]]
) -> None:
    names = "block_type", "block_index", "delta", "partial_json", "timestamp", "metadata", "block"
    for event in StreamDecoder("anthropic").feed(wire(tool_turn)):
        given = {name: getattr(event, name) for name in names}
        assert {name: value for name, value in given.items() if value is not None} == event.data


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_result_is_the_same_without_the_events(
    wire: Wire, tool_turn: list[dict[str, Any]], size: int
) -> None:
    body = wire(tool_turn)
    told, quiet = StreamDecoder("anthropic"), StreamDecoder("anthropic")
    for place in range(0, len(body), size):
        piece = body[place : place + size]
        assert quiet.advance(piece) is bool(told.feed(piece))
    expected, found = told.finish(), quiet.finish()
    for name in ("blocks", "usage", "stop_reason", "metadata", "findings", "truncated"):
        assert getattr(found, name) == getattr(expected, name)


def test_an_empty_delta_adds_nothing(wire: Wire) -> None:
    decoder = StreamDecoder("anthropic")
    block = {"type": "text", "text": ""}
    assert decoder.advance(
        wire([{"type": "content_block_start", "index": 0, "content_block": block}])
    )

    def added(text: str) -> bool:
        delta = {"type": "text_delta", "text": text}
        return decoder.advance(wire([{"type": "content_block_delta", "index": 0, "delta": delta}]))

    assert [added(text) for text in ("", "Hi", "")] == [False, True, False]
    assert [block["text"] for block in decoder.finish().blocks] == ["Hi"]


def test_a_payload_is_new_each_time(wire: Wire, tool_turn: list[dict[str, Any]]) -> None:
    event = StreamDecoder("anthropic").feed(wire(tool_turn))[-1]
    event.data["block"]["arguments"].clear()
    assert event.data["block"] == CALL


def test_the_time_stamp_is_utc_with_six_digits(wire: Wire, tool_turn: list[dict[str, Any]]) -> None:
    before = datetime.now(UTC)
    stamp = StreamDecoder("anthropic").feed(wire(tool_turn))[0].timestamp
    assert stamp.endswith("+00:00")
    assert len(stamp) == len("2026-01-01T00:00:00.000000+00:00")
    assert before.replace(microsecond=0) <= datetime.fromisoformat(stamp) <= datetime.now(UTC)


def test_the_result_holds_the_whole_answer(wire: Wire, tool_turn: list[dict[str, Any]]) -> None:
    decoder = StreamDecoder("anthropic", 200, {"Request-Id": "req_1"})
    decoder.feed(wire(tool_turn))
    result = decoder.finish()
    found = {name: getattr(result, name) for name in dir(result) if not name.startswith("_")}
    assert found == {
        "blocks": [THINKING, TEXT, CALL],
        "usage": {
            "input_tokens": 10,
            "cache_read_tokens": 4,
            "cache_write_tokens": None,
            "output_tokens": 20,
            "reasoning_tokens": None,
        },
        "raw_usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 20},
        "stop_reason": "tool_use",
        "raw_stop_reason": "tool_use",
        "stop_sequence": None,
        "id": "msg_1",
        "model": "claude-demo",
        "request_id": "req_1",
        "metadata": {},
        "truncated": False,
        "error": None,
        "findings": [],
        "events": [],
    }
    assert repr(result) == (
        "StreamResult(id='msg_1', stop_reason='tool_use', truncated=False, error=None, "
        "blocks=['thinking', 'text', 'tool_call'])"
    )


def test_every_two_way_split_says_the_same(wire: Wire, tool_turn: list[dict[str, Any]]) -> None:
    body = wire(tool_turn)

    def decode(*chunks: bytes) -> tuple[list[dict[str, Any]], Any]:
        decoder = StreamDecoder("anthropic")
        events = [timeless(event) for chunk in chunks for event in decoder.feed(chunk)]
        return events, decoder.finish()

    whole = decode(body)
    for cut in range(len(body)):
        assert decode(body[:cut], body[cut:]) == whole


def test_no_prefix_of_a_stream_runs_a_tool(wire: Wire, tool_turn: list[dict[str, Any]]) -> None:
    body = wire(tool_turn)
    for cut in range(len(body)):
        decoder = StreamDecoder("anthropic")
        decoder.feed(body[:cut])
        result = decoder.finish()
        assert result.truncated
        for block in result.blocks:
            if block["type"] == "tool_call":
                assert block["arguments"] is None
                assert block["error"] in (
                    "the stream ended before `message_stop`",
                    "the call never ended",
                )


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ('{"a": 1, "a": 2}', "duplicate key `a` at byte 13"),
        ('{"a": NaN}', "expected a value, found `NaN` at byte 6"),
        ('{"a": 1e400}', "number `1e400` overflows at byte 6"),
        ("[]", "expected an object, found an array at byte 0"),
        ('{"a": ' + "[" * 200, "nesting deeper than 128 levels at byte 133"),
        ('{"a": ', "expected a value, found the end at byte 6"),
    ],
)
def test_arguments_are_never_repaired(wire: Wire, raw: str, error: str) -> None:
    block = {"type": "tool_use", "id": "t", "name": "x", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": raw}
    decoder = StreamDecoder("anthropic")
    decoder.feed(
        wire(
            [
                {"type": "message_start", "message": {"id": "m"}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_stop"},
            ]
        )
    )
    assert decoder.finish().blocks == [
        {
            "type": "tool_call",
            "id": "t",
            "name": "x",
            "arguments": None,
            "raw_arguments": raw,
            "error": f"invalid tool arguments: {error}",
        }
    ]


def test_a_refused_request_is_an_error_of_the_result() -> None:
    headers = [(b"retry-after", b"2.5"), ("request-id", "req_9")]
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}'
    error = {
        "type": "overloaded_error",
        "code": None,
        "status": 529,
        "message": "Busy",
        "retryable": True,
        "retry_after": 2.5,
    }
    decoder = StreamDecoder("anthropic", 529, headers)
    assert decoder.feed(body[:10]) + decoder.feed(body[10:]) == []
    result = decoder.finish()
    assert (result.error, result.request_id, result.truncated) == (error, "req_9", False)
    decoded = decode_error("anthropic", 529, headers, body)
    assert decoded == {**error, "request_id": "req_9"}


@pytest.mark.parametrize("take_in", [StreamDecoder.feed, StreamDecoder.advance])
def test_a_broken_limit_is_raised_and_stays_in_the_result(
    take_in: Callable[[StreamDecoder, bytes], object],
) -> None:
    decoder = StreamDecoder("anthropic", max_line_bytes=50)
    with pytest.raises(StreamLimitError):
        take_in(decoder, b"x" * 51)
    result = decoder.finish()
    assert result.truncated
    assert result.error == {
        "type": "stream_limit",
        "code": None,
        "status": 200,
        "message": "a line of the stream is longer than `max_line_bytes` (50 bytes)",
        "retryable": False,
        "retry_after": None,
    }


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match=r"unknown stream dialect `chatty` \(known: `anthropic`, "):
        StreamDecoder("chatty")
    with pytest.raises(ValueError, match="unknown stream dialect"):
        decode_error("", 500, None, b"")
    with pytest.raises(TypeError, match="a header must be `str` or `bytes`, found `int`"):
        StreamDecoder("anthropic", 200, {"a": 1})  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        StreamDecoder("anthropic", 200, 7)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        StreamDecoder("anthropic").feed("text")  # pyright: ignore[reportArgumentType]
    decoder = StreamDecoder("anthropic")
    decoder.finish()
    for misuse in (lambda: decoder.feed(b""), decoder.finish):
        with pytest.raises(RuntimeError, match="already finished"):
            misuse()


def test_events_cannot_be_changed(wire: Wire, tool_turn: list[dict[str, Any]]) -> None:
    event = StreamDecoder("anthropic").feed(wire(tool_turn))[0]
    with pytest.raises(AttributeError):
        event.delta = "x"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_missing_extension_is_told_in_one_line() -> None:
    program = (
        "import sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "sys.modules['amplifier_core._engine'] = None\n"
        "import amplifier_stream\n"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: `amplifier_stream` needs the extension `amplifier_core._engine`, "
        "which is missing here"
    )
