"""The arguments of a call while its stream arrives, from Python."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import StreamDecoder, StreamEvent

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


def sse(event: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def start(index: int = 0, kind: str = "tool_use") -> bytes:
    block = {"type": kind, "id": "t", "name": "write", "input": {}}
    return sse({"type": "content_block_start", "index": index, "content_block": block})


def delta(text: str, index: int = 0) -> bytes:
    fragment = {"type": "input_json_delta", "partial_json": text}
    return sse({"type": "content_block_delta", "index": index, "delta": fragment})


def stop(index: int = 0) -> bytes:
    return sse({"type": "content_block_stop", "index": index})


def begun(*fragments: str) -> StreamDecoder:
    decoder = StreamDecoder("anthropic")
    decoder.feed(start() + b"".join(map(delta, fragments)))
    return decoder


def test_a_call_shows_its_arguments_from_its_start_to_after_its_end() -> None:
    decoder = StreamDecoder("anthropic")
    shown: list[Any] = []
    pieces = ['{"path": "a', 'b", "lines": [1, 2', '3], "n": nu', 'll, "x": {"y', '": "z"}}']
    for chunk in [start(), *map(delta, pieces), stop()]:
        decoder.feed(chunk)
        shown.append(decoder.partial_arguments(0))

    whole = {"path": "ab", "lines": [1, 23], "n": None, "x": {"y": "z"}}
    assert shown == [
        {},
        {"path": "a"},
        {"path": "ab", "lines": [1]},
        {"path": "ab", "lines": [1, 23]},
        {"path": "ab", "lines": [1, 23], "n": None, "x": {}},
        whole,
        whole,
    ]


def test_blocks_without_arguments_have_none() -> None:
    decoder = StreamDecoder("anthropic")
    text = {"type": "text", "text": "x"}
    decoder.feed(sse({"type": "content_block_start", "index": 0, "content_block": text}))

    assert decoder.partial_arguments(0) is None
    assert decoder.partial_arguments(7) is None
    with pytest.raises(OverflowError):
        decoder.partial_arguments(-1)


def test_a_mistake_leaves_what_came_before_it_and_the_final_parse_names_it() -> None:
    decoder = begun('{"a": [1, 2], "b": NaN, "c": 3}')
    decoder.feed(stop())

    assert decoder.partial_arguments(0) == {"a": [1, 2]}
    [call] = decoder.finish().blocks
    assert call["arguments"] is None
    assert call["error"] == "invalid tool arguments: expected a value, found `NaN` at byte 19"


def test_what_was_handed_out_never_grows() -> None:
    decoder = begun('{"a": [[1], ["x')
    first = decoder.partial_arguments(0)
    decoder.feed(delta('y"]], "b": {}'))
    second = decoder.partial_arguments(0)

    assert first == {"a": [[1], ["x"]]}
    assert second == {"a": [[1], ["xy"]], "b": {}}


def test_changing_an_open_container_changes_nothing_here() -> None:
    decoder = begun('{"a": [{"b": "x')
    shown = decoder.partial_arguments(0)
    assert shown is not None
    shown["a"][0]["b"] = "changed"
    shown["a"].append("changed")
    shown["c"] = "changed"

    assert decoder.partial_arguments(0) == {"a": [{"b": "x"}]}


def test_what_has_closed_is_converted_once() -> None:
    decoder = begun('{"a": [1, 2], "b": "x')
    first = decoder.partial_arguments(0)
    decoder.feed(delta("y"))
    second = decoder.partial_arguments(0)

    assert first is not None
    assert second is not None
    assert second["a"] is first["a"]


def test_a_message_that_begins_again_shows_nothing_of_the_first() -> None:
    decoder = StreamDecoder("anthropic")
    decoder.feed(sse({"type": "message_start", "message": {"id": "a"}}) + start())
    decoder.feed(delta('{"old": [1, 2, 3], "long": "text'))
    assert decoder.partial_arguments(0) == {"old": [1, 2, 3], "long": "text"}
    decoder.feed(sse({"type": "message_start", "message": {"id": "b"}}) + start())
    decoder.feed(delta('{"new": ["x'))

    assert decoder.partial_arguments(0) == {"new": ["x"]}


def test_a_finished_decoder_refuses() -> None:
    decoder = begun('{"a": 1')
    decoder.finish()

    with pytest.raises(RuntimeError, match="already finished"):
        decoder.partial_arguments(0)


class Note:
    """Something that a weak reference can watch."""

    decoder: StreamDecoder


def test_a_decoder_that_is_reachable_from_what_it_shared_is_collected() -> None:
    decoder = begun('{"a": [1], "b": "x')
    shown = decoder.partial_arguments(0)
    assert shown is not None
    note = Note()
    note.decoder = decoder
    shown["a"].append(note)
    watch = weakref.ref(note)
    del decoder, shown, note
    gc.collect()

    assert watch() is None


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places} | {len(text)})
    return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def amounts(events: list[StreamEvent]) -> str:
    return "".join(event.partial_json or "" for event in events)


# Holds: stream-9
@given(
    st.dictionaries(st.text(), JSON, max_size=5),
    st.lists(st.integers(0, 10_000), max_size=12),
    st.sampled_from([None, 1]),
)
def test_asking_often_and_asking_once_show_the_same(
    arguments: dict[str, Any], places: list[int], indent: int | None
) -> None:
    text = json.dumps(arguments, indent=indent)
    often = begun()
    events: list[StreamEvent] = []
    for piece in cut(text, places):
        events += often.feed(delta(piece))
        assert often.partial_arguments(0) == begun(amounts(events)).partial_arguments(0)

    last = often.partial_arguments(0)
    often.feed(stop())
    assert last == often.partial_arguments(0) == arguments
    assert json.dumps(last) == json.dumps(arguments)
