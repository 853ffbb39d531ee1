"""Answers that start again: the result has the calls of the last start, and events name them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import (
    AgentEvent,
    MessageContentEvent,
    MessageEndEvent,
    MessageStartEvent,
    RestartEvent,
    StreamDecoder,
    ThinkingContentEvent,
    ThinkingFilter,
    ToolCallEndEvent,
    ToolCallStartEvent,
    decoded_chunks_sync,
    process_stream_sync,
)

Event = dict[str, Any]


def start_message(id: str) -> Event:
    return {"type": "message_start", "message": {"id": id, "content": []}}


def call(index: int, id: Any, arguments: str, *, ends: bool = True) -> list[Event]:
    block: Event = {"type": "tool_use", "id": id, "name": "look", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": arguments}
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        {"type": "content_block_delta", "index": index, "delta": delta},
        *([{"type": "content_block_stop", "index": index}] if ends else []),
    ]


def text(index: int, kind: str, said: str, *, ends: bool = True) -> list[Event]:
    return [
        {
            "type": "content_block_start",
            "index": index,
            "content_block": {"type": kind, kind: said},
        },
        *([{"type": "content_block_stop", "index": index}] if ends else []),
    ]


STOP = {"type": "message_stop"}


def write(events: list[Event]) -> bytes:
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)


# Holds: tags-4
def test_the_events_name_the_calls_of_the_result() -> None:
    body = write(
        [
            start_message("m1"),
            *text(0, "text", "Hel", ends=False),
            *call(1, "first", '{"x": 1', ends=False),
            start_message("m2"),
            *text(0, "text", "Hello"),
            *call(1, "second", '{"x": 2}'),
            STOP,
        ]
    )
    events: list[AgentEvent] = []
    result = process_stream_sync(
        decoded_chunks_sync([body], StreamDecoder("anthropic")), events.append, tool_tags=None
    )
    assert [(call.id, call.arguments) for call in result.calls] == [("second", {"x": 2})]
    assert [(event.index, event.call.id) for event in events if isinstance(event, ToolCallEndEvent)]\
        == [(1, "first"), (2, "second")]  # fmt: skip
    assert result.assistant_content == "Hello"
    assert [event for event in events if event.type.startswith(("Message", "Restart"))] == [
        MessageStartEvent(),
        MessageContentEvent("Hel"),
        MessageEndEvent(),
        RestartEvent("message"),
        MessageStartEvent(),
        MessageContentEvent("Hello"),
        MessageEndEvent(),
    ]


def test_a_dropped_block_is_an_end_that_says_so(wire: Callable[[list[Event]], bytes]) -> None:
    decoder = StreamDecoder("anthropic")
    events = decoder.feed(
        wire([start_message("m1"), *call(0, "a", "{}"), start_message("m2"), STOP])
    )
    last = events[-1]
    assert (last.event, last.dropped) == ("content_block:end", True)
    assert last.data["dropped"] is True
    assert last.block == last.data["block"]
    assert (last.data["block"]["id"], last.data["block"]["arguments"]) == ("a", None)
    assert "dropped" not in events[-2].data
    assert decoder.finish().blocks == []


indices = st.integers(0, 2)
words = st.sampled_from(["", "a", "<tool>", "</tool>", "<thinking>b</thinking>", '{"name":"t"}'])
ids = st.sampled_from(["one", "two", 7, None])
arguments = st.sampled_from(["", "{}", '{"x": 1}', '{"x"'])
steps = st.one_of(
    st.sampled_from([[start_message("m1")], [start_message("m2")]]),
    st.builds(text, indices, st.sampled_from(["text", "thinking"]), words, ends=st.booleans()),
    st.builds(call, indices, ids, arguments, ends=st.booleans()),
    st.just([{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}]),
    st.just([STOP]),
)


# Holds: tags-4
@given(st.lists(steps, max_size=12), st.booleans(), st.booleans())
def test_what_is_told_is_what_the_answer_amounts_to(
    answer: list[list[Event]], tagged: bool, filtered: bool
) -> None:
    body = write([event for step in answer for event in step])
    events: list[AgentEvent] = []
    thinking = ThinkingFilter() if filtered else None
    result = process_stream_sync(
        decoded_chunks_sync([body], StreamDecoder("anthropic"), thinking),
        events.append,
        tool_tags=("tool",) if tagged else None,
    )
    said = {"message": "", "thinking": ""}
    starts: dict[int, ToolCallStartEvent] = {}
    ends: dict[int, ToolCallEndEvent] = {}
    for event in events:
        match event:
            case RestartEvent(kind):
                said[kind] = ""
            case MessageContentEvent(content):
                said["message"] += content
            case ThinkingContentEvent(content):
                said["thinking"] += content
            case ToolCallStartEvent(index):
                starts[index] = event
            case ToolCallEndEvent(index):
                ends[index] = event
            case _:
                pass
    assert said == {"message": result.assistant_content, "thinking": result.thinking_content}
    assert set(starts) == set(ends)
    numbers = [call.index for call in result.calls]
    assert numbers == [number for number in starts if number in numbers]
    for call in result.calls:
        end = ends[call.index].call
        assert (end.id, end.name, end.raw) == (call.id, call.name, call.raw)
        assert call.arguments in (None, end.arguments)
        if call.is_native:
            assert starts[call.index].id == call.id

    decoded = StreamDecoder("anthropic")
    decoded.feed(body)
    whole = decoded.finish()
    if not tagged:
        blocks = [block for block in whole.blocks if block["type"] == "tool_call"]
        assert len(result.calls) == len(blocks)
        runnable = [call for call in result.calls if call.arguments is not None]
        assert sorted((call.id or "", repr(call.arguments)) for call in runnable) == sorted(
            (block["id"] or "", repr(block["arguments"]))
            for block in blocks
            if block["arguments"] is not None
        )
