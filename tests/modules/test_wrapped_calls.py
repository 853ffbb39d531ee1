"""Calls that are made through one tool, and told of as if they were made directly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.content_models import ToolCallContent
from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END, CONTENT_BLOCK_START
from amplifier_core.message_models import Message, ToolCall, ToolCallBlock
from amplifier_providers.answers.wrapped_blocks import BlockUnwrapper
from amplifier_providers.answers.wrapped_calls import (
    find_inner_call,
    find_wrappers,
    unwrap_call,
    unwrap_response,
    wrap_message,
)
from amplifier_providers.wire.response import WireResponse

PLACE = {"block_type": "tool_call", "block_index": 1}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def tell(written: str, cuts: list[int], **block: Any) -> list[tuple[str, Any]]:
    """The events of a call of `call_tool` whose arguments arrive in these pieces, in short."""
    unwrapper = BlockUnwrapper("call_tool")
    metadata = {"id": "c1", "name": "call_tool"}
    told = [*unwrapper.take(CONTENT_BLOCK_START, {**PLACE, "metadata": metadata})]
    ends = sorted({min(cut, len(written)) for cut in cuts} | {len(written)})
    for start, end in zip([0, *ends], ends, strict=False):
        delta = {**PLACE, "partial_json": written[start:end]}
        told += unwrapper.take(CONTENT_BLOCK_DELTA, delta)
    ended = {"type": "tool_call", "id": "c1", "name": "call_tool", **block}
    told += unwrapper.take(CONTENT_BLOCK_END, {**PLACE, "block": ended})
    assert all(data["block_index"] == 1 for _, data in told)
    return [
        (name, data.get("metadata") or data.get("partial_json") or data.get("block"))
        for name, data in told
    ]


# Holds: deferred-5
@given(
    arguments=st.dictionaries(st.text(), VALUES, max_size=4),
    cuts=st.lists(st.integers(0, 80), max_size=8),
    is_swapped=st.booleans(),
)
def test_deltas_are_those_of_the_arguments_however_they_are_cut(
    arguments: dict[str, Any], cuts: list[int], is_swapped: bool
) -> None:
    made: dict[str, Any] = {"name": "far__look", "arguments": arguments}
    made = dict(reversed(made.items())) if is_swapped else made
    told = tell(json.dumps(made), cuts, arguments=made)

    assert told[0] == (CONTENT_BLOCK_START, {"id": "c1", "name": "far__look"})
    assert json.loads("".join(text for _, text in told[1:-1])) == arguments
    block = {"type": "tool_call", "id": "c1", "name": "far__look"}
    assert told[-1] == (CONTENT_BLOCK_END, {**block, "arguments": arguments, "input": arguments})


def test_the_beginning_of_a_call_is_told_as_soon_as_its_name_is_there() -> None:
    unwrapper = BlockUnwrapper("call_tool")
    begun = {**PLACE, "metadata": {"id": "c1", "name": "call_tool"}}
    assert list(unwrapper.take(CONTENT_BLOCK_START, begun)) == []
    told = unwrapper.take(CONTENT_BLOCK_DELTA, {**PLACE, "partial_json": '{"name": "look"'})
    assert [name for name, _ in told] == [CONTENT_BLOCK_START]
    more = {**PLACE, "partial_json": ', "arguments": {"at'}
    assert list(unwrapper.take(CONTENT_BLOCK_DELTA, more)) == [
        (CONTENT_BLOCK_DELTA, {**PLACE, "partial_json": '{"at'})
    ]


def test_events_of_other_calls_and_blocks_are_left_alone() -> None:
    unwrapper = BlockUnwrapper("call_tool")
    for event, data in (
        (CONTENT_BLOCK_START, {"block_type": "text", "block_index": 0}),
        (CONTENT_BLOCK_START, {**PLACE, "metadata": {"name": "look"}}),
        (CONTENT_BLOCK_DELTA, {**PLACE, "partial_json": '{"name": "x"}'}),
        (CONTENT_BLOCK_END, {**PLACE, "block": {"type": "tool_call", "name": "look"}}),
    ):
        assert list(unwrapper.take(event, data)) == [(event, data)]


def test_a_call_that_is_dropped_before_its_name_is_there_begins_and_ends() -> None:
    unwrapper = BlockUnwrapper("call_tool")
    unwrapper.take(CONTENT_BLOCK_START, {**PLACE, "metadata": {"name": "call_tool"}})
    dropped = {**PLACE, "block": {"type": "tool_call"}, "dropped": True}
    told = unwrapper.take(CONTENT_BLOCK_END, dropped)
    assert [name for name, _ in told] == [CONTENT_BLOCK_START, CONTENT_BLOCK_END]
    assert told[-1][1] == dropped


# Holds: deferred-4
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"name": "look", "arguments": {"at": 1}}, ("look", {"at": 1}, None)),
        ({"name": "look", "arguments": '{"at": 1}'}, ("look", {"at": 1}, None)),
        ({"name": "look", "at": 1}, ("look", {"at": 1}, None)),
        ({"name": "look"}, ("look", {}, None)),
        ({"name": "look", "arguments": None}, ("look", {}, None)),
        (
            {"name": "look", "arguments": [1]},
            ("look", {}, "`arguments` is of type `list` (must be an object)"),
        ),
        ({"arguments": {"at": 1}}, None),
        ({"name": "", "arguments": {}}, None),
        ({"name": 3, "arguments": {}}, None),
        ({"name": "call_tool", "arguments": {}}, None),
    ],
)
def test_a_call_is_read_in_the_forms_that_models_write(written: dict[str, Any], meant: Any) -> None:
    assert find_inner_call(written, "call_tool") == meant


def test_a_call_whose_arguments_are_cut_off_is_one_of_the_tool_that_it_names() -> None:
    raw = '{"name": "look", "arguments": {"at'
    broken = ToolCall.model_validate(
        {"id": "c1", "name": "call_tool", "arguments": {}, "error": "cut off", "raw_arguments": raw}
    )
    assert unwrap_call(broken, "call_tool").model_dump() == {
        "id": "c1", "name": "look", "arguments": {}, "error": "cut off", "raw_arguments": raw,
        "called_as": "call_tool",
    }  # fmt: skip


# Holds: deferred-4
def test_a_response_is_unwrapped_in_each_of_its_forms_and_only_once() -> None:
    given = {"name": "look", "arguments": {"at": 1}}
    response = WireResponse(
        content=[ToolCallBlock(id="c1", name="call_tool", input=given)],
        tool_calls=[ToolCall(id="c1", name="call_tool", arguments=given)],
        content_blocks=[ToolCallContent(id="c1", name="call_tool", arguments=given, raw={"a": 1})],
    )
    meant = unwrap_response(response, "call_tool")
    assert meant.model_dump(exclude_none=True, exclude={"content_blocks"}) == {
        "content": [
            {"type": "tool_call", "id": "c1", "name": "look", "input": {"at": 1},
             "called_as": "call_tool"}
        ],
        "tool_calls": [
            {"id": "c1", "name": "look", "arguments": {"at": 1}, "called_as": "call_tool"}
        ],
    }  # fmt: skip
    shown = ToolCallContent(id="c1", name="look", arguments={"at": 1}, raw={"a": 1})
    assert meant.content_blocks == [shown]
    assert unwrap_response(meant, "call_tool") == meant


# Holds: deferred-6
def test_a_message_is_sent_as_its_model_wrote_it() -> None:
    message = Message.model_validate(
        {
            "role": "assistant",
            "content": [
                {"type": "tool_call", "id": "c1", "name": "look", "input": {"at": 1},
                 "called_as": "call_tool", "caller": "direct"},
                {"type": "tool_call", "id": "c2", "name": "look", "input": {"at": 2}},
            ],
            "tool_calls": [
                {"id": "c1", "tool": "look", "arguments": {"at": 1}},
                {"id": "c2", "tool": "look", "arguments": {"at": 2}},
            ],
        }
    )  # fmt: skip
    sent = wrap_message(message, find_wrappers(message))
    made = {"name": "look", "arguments": {"at": 1}}
    assert sent.model_dump(exclude_none=True) == {
        "role": "assistant",
        "content": [
            {"type": "tool_call", "id": "c1", "name": "call_tool", "input": made,
             "caller": "direct"},
            {"type": "tool_call", "id": "c2", "name": "look", "input": {"at": 2}},
        ],
        "tool_calls": [
            {"id": "c1", "tool": "call_tool", "arguments": made},
            {"id": "c2", "tool": "look", "arguments": {"at": 2}},
        ],
    }  # fmt: skip
