"""Recorded streams come to what was recorded with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_stream import StreamDecoder, decode_error

Normalize = Callable[[Any, Any], dict[str, Any]]


def test_a_recorded_stream_gives_its_record(
    stream: Any, normalize: Normalize, record: dict[str, Any]
) -> None:
    _, result = stream.decode()
    said = normalize(stream, result)
    assert {"text", "thinking", "tool_calls"} <= said.keys() & record.keys()
    assert said == {key: record.get(key) for key in said}


# Holds: stream-4
def test_a_recorded_stream_runs_a_tool_only_if_it_succeeded(stream: Any) -> None:
    _, result = stream.decode()
    has_failed = result.truncated or result.error is not None
    calls = [block for block in result.blocks if block["type"] == "tool_call"]
    assert all((call["arguments"] is not None) == (call["error"] is None) for call in calls)
    assert not has_failed or all(call["arguments"] is None for call in calls)


# Holds: stream-5
def test_the_events_of_a_recorded_stream_add_up_to_its_blocks(stream: Any) -> None:
    decoder = StreamDecoder(stream.dialect)
    events = decoder.feed(stream.body)
    result = decoder.finish()
    events += result.events
    if result.findings:
        # Only what was told from its start to its end, and once, adds up.
        assert all(finding["message"] for finding in result.findings)
        return
    ended = {event.block_index: event.block for event in events if event.block is not None}
    for index, block in ended.items():
        mine = [event for event in events if event.block_index == index]
        kinds = [event.event.removeprefix("content_block:") for event in mine]
        assert kinds == ["start", *["delta"] * (len(mine) - 2), "end"]
        assert {event.block_type for event in mine} == {block["type"]}
        streamed = "".join((event.delta or "") + (event.partial_json or "") for event in mine)
        match block["type"]:
            case "text":
                assert streamed == block["text"] + block.get("refusal", "")
            case "thinking":
                # Reasoning that is told beside its summary follows it.
                assert streamed.startswith(block["thinking"])
            case "tool_call":
                assert streamed == block["raw_arguments"]
            case _:
                pass
    if not result.truncated and result.error is None:
        ended_types = [ended[index]["type"] for index in sorted(ended)]
        assert ended_types == [block["type"] for block in result.blocks]


def test_a_recorded_error_gives_its_type_its_code_and_its_message(refusal: Any) -> None:
    recorded = refusal.expected["expected"]["error"]
    error = decode_error(refusal.dialect, refusal.status, None, refusal.body)
    assert error["status"] == recorded["status_code"] == refusal.status
    body = recorded["body"]
    inner = body.get("error")
    said = inner if isinstance(inner, dict) else {"message": inner} if inner else body
    for key in ("type", "code", "message"):
        if said.get(key) is not None:
            assert error[key] == str(said[key])
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
