"""Recorded streams come to what was recorded with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_stream import StreamDecoder, decode_error

Normalize = Callable[[Any, Any], dict[str, Any]]


def test_a_recorded_stream_gives_its_record(stream: Any, normalize: Normalize) -> None:
    _, result = stream.decode()
    assert normalize(stream, result) == stream.expected["normalized"]


def test_a_recorded_stream_runs_a_tool_only_if_it_succeeded(stream: Any) -> None:
    _, result = stream.decode()
    succeeded = not result.truncated and result.error is None
    calls = [block for block in result.blocks if block["type"] == "tool_call"]
    assert all((call["arguments"] is not None) == (call["error"] is None) for call in calls)
    assert succeeded or all(call["arguments"] is None for call in calls)
    assert (result.stop_reason == "tool_use") == (succeeded and bool(calls))


def test_the_events_of_a_recorded_stream_add_up_to_its_blocks(stream: Any) -> None:
    decoder = StreamDecoder(stream.dialect)
    events = decoder.feed(stream.body)
    result = decoder.finish()
    ended = {event.block_index: event.block for event in events if event.block is not None}
    for index, block in ended.items():
        mine = [event for event in events if event.block_index == index]
        kinds = [event.event.removeprefix("content_block:") for event in mine]
        assert kinds == ["start", *["delta"] * (len(mine) - 2), "end"]
        assert {event.block_type for event in mine} == {block["type"]}
        streamed = "".join((event.delta or "") + (event.partial_json or "") for event in mine)
        whole = [block[key] for key in ("text", "thinking", "raw_arguments") if key in block]
        if block["type"] in ("text", "thinking", "tool_call"):
            assert whole == [streamed]
    if not result.truncated and result.error is None:
        ended_types = [ended[index]["type"] for index in sorted(ended)]
        assert ended_types == [block["type"] for block in result.blocks]


def test_a_recorded_error_gives_its_type_its_code_and_its_message(refusal: Any) -> None:
    recorded = refusal.expected["expected"]["error"]
    body = recorded["body"]
    said = body["error"] if isinstance(body.get("error"), dict) else body
    error = decode_error(refusal.dialect, refusal.status, None, refusal.body)
    assert error["status"] == recorded["status_code"]
    assert error["message"] == said["message"]
    assert error["code"] == said.get("code")
    assert error["type"] == said.get("type", "rate_limit_error")
    assert error["request_id"] == body.get("request_id")

    decoder = StreamDecoder(refusal.dialect, refusal.status)
    for place in range(len(refusal.body)):
        assert decoder.feed(refusal.body[place : place + 1]) == []
    result = decoder.finish()
    error.pop("request_id")
    assert (result.error, result.truncated, result.blocks) == (error, False, [])


def test_a_recorded_error_that_is_cut_is_still_an_error(refusal: Any) -> None:
    for end in range(len(refusal.body)):
        error = decode_error(refusal.dialect, refusal.status, None, refusal.body[:end])
        assert error["status"] == refusal.status
        assert error["message"]
