"""A conversation that grows, and one that its caller changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MESSAGES

from arcllm import Message, TextBlock, ToolResultBlock, ToolUseBlock
from arcllm.convert.conversation import Conversation
from arcllm.convert.messages import kernel_messages


def converted(messages: list[Message]) -> list[Any]:
    return [each for message in messages for each in kernel_messages(message)]


@given(st.lists(st.lists(MESSAGES, max_size=4), max_size=4))
def test_what_was_converted_before_changes_nothing(calls: list[list[Message]]) -> None:
    conversation = Conversation()
    for messages in calls:
        assert conversation.convert_messages(messages) == converted(messages)


@given(st.lists(MESSAGES, max_size=4), st.lists(MESSAGES, max_size=4))
def test_what_did_not_change_is_the_same_object(
    beginning: list[Message], more: list[Message]
) -> None:
    conversation = Conversation()
    first = conversation.convert_messages(beginning)
    copies = [Message.model_validate_json(each.model_dump_json()) for each in beginning]
    second = conversation.convert_messages([*copies, *more])
    assert all(one is other for one, other in zip(first, second, strict=False))
    assert len(second) == len(converted([*beginning, *more]))


@pytest.mark.parametrize("place", ["text", "argument", "nested", "opaque", "role"])
def test_a_message_that_is_changed_inside_is_converted_again(place: str) -> None:
    entry = {"type": "hidden", "block": {"type": "thinking", "thinking": "old"}}
    blocks: list[Any] = [
        TextBlock(text="old"),
        ToolUseBlock(id="1", name="n", arguments={"at": {"deep": ["old"]}}),
        ToolResultBlock(tool_use_id="2", content=[TextBlock(text="old")]),
    ]
    message = Message(role="assistant", content=blocks, opaque=[entry])
    conversation = Conversation()
    conversation.convert_messages([message])
    match place:
        case "text":
            blocks[0].text = "new"
        case "argument":
            blocks[1].arguments["at"]["deep"][0] = "new"
        case "nested":
            blocks[2].content[0].text = "new"
        case "opaque":
            entry["block"]["thinking"] = "new"  # pyright: ignore[reportArgumentType] -- plain data
        case _:
            message.role = "user"
    message = (
        message if place == "role" else Message(role="assistant", content=blocks, opaque=[entry])
    )
    (found,) = conversation.convert_messages([message])
    assert found == kernel_messages(message)[0]
    assert ("new" in repr(found)) == (place != "role")


def test_a_lone_surrogate_is_a_text_like_any_other() -> None:
    message = Message(role="user", content=[TextBlock(text="\ud800")])
    conversation = Conversation()
    assert (
        conversation.convert_messages([message])[0] is conversation.convert_messages([message])[0]
    )
