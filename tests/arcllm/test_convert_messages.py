"""Messages here and in the kernel: one table, and nothing is lost on the way."""

from __future__ import annotations

from typing import Any

import kernel_strategies
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BLOCKS, MESSAGES

from amplifier_core import message_models as kernel
from arcllm import (
    ArcLLMConfigError,
    ImageBlock,
    Message,
    TextBlock,
    Tool,
    ToolResultBlock,
    ToolUseBlock,
)
from arcllm.convert.blocks import dump_block, kernel_block, read_block
from arcllm.convert.conversation import Conversation
from arcllm.convert.messages import kernel_messages, kernel_tools, readable_message

PIXEL = "iVBORw0KGgo="
BASE64 = {"type": "base64", "media_type": "image/png", "data": PIXEL}
THOUGHT = {"type": "thinking", "thinking": "Hm", "signature": "sig"}


def there(message: Message) -> kernel.Message:
    (found,) = kernel_messages(message)
    return found


def blocks_of(message: kernel.Message) -> list[dict[str, Any]]:
    assert isinstance(message.content, list)
    return [dump_block(block) for block in message.content]


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        (TextBlock(text="a"), {"type": "text", "text": "a"}),
        (ImageBlock(source=PIXEL, media_type="image/png"), {"type": "image", "source": BASE64}),
        (
            ImageBlock(source="https://e.org/a", media_type="image/png"),
            {
                "type": "image", "source": {"type": "url", "url": "https://e.org/a"},
                "media_type": "image/png",
            },
        ),
        (
            ToolUseBlock(id="1", name="n", arguments={"a": 1}),
            {"type": "tool_call", "id": "1", "name": "n", "input": {"a": 1}},
        ),
        (
            ToolResultBlock(tool_use_id="1", content="ok"),
            {"type": "tool_result", "tool_call_id": "1", "output": "ok"},
        ),
        (
            ToolResultBlock(tool_use_id="1", content=""),
            {"type": "tool_result", "tool_call_id": "1", "output": ""},
        ),
        (
            ToolResultBlock(
                tool_use_id="1",
                content=[TextBlock(text="a"), ImageBlock(source=PIXEL, media_type="image/png")],
            ),
            {
                "type": "tool_result", "tool_call_id": "1",
                "output": [{"type": "text", "text": "a"}, {"type": "image", "source": BASE64}],
            },
        ),
    ],
)  # fmt: skip
def test_the_table(here: Any, expected: dict[str, Any]) -> None:
    assert dump_block(kernel_block(here, {})) == expected
    assert read_block(expected) == (here, {})


def test_a_result_without_content_is_empty() -> None:
    result = ToolResultBlock(tool_use_id="1", content=[])
    assert dump_block(kernel_block(result, {}))["output"] == ""


# Holds: arcllm-3
@given(MESSAGES)
def test_what_goes_there_comes_back(message: Message) -> None:
    assert readable_message(there(message)) == message


# Holds: arcllm-3
@given(kernel_strategies.MESSAGES | kernel_strategies.TOOL_MESSAGES)
def test_what_comes_from_there_goes_back(message: kernel.Message) -> None:
    here = readable_message(message)
    stored = Message.model_validate_json(here.model_dump_json())
    assert stored == here
    assert there(stored) == message


# Holds: arcllm-5
@given(kernel_strategies.ANSWERS, st.lists(BLOCKS, max_size=4))
def test_what_was_changed_counts(answer: kernel.Message, changed: list[Any]) -> None:
    here = readable_message(answer)
    edited = Message(role="assistant", content=changed, opaque=here.opaque)
    found = [read_block(block) for block in blocks_of(there(edited))]
    assert [each[0] for each in found if each is not None] == changed


# Holds: arcllm-5
@given(kernel_strategies.ANSWERS, st.data())
def test_hidden_blocks_stay_between_the_blocks_that_were_not_changed(
    answer: kernel.Message, data: st.DataObject
) -> None:
    here = readable_message(answer)
    blocks = here.content
    assert isinstance(blocks, list)
    place = data.draw(st.integers(0, len(blocks)))
    added = TextBlock(text="added by hand, and unlike all others")
    edited = here.model_copy(update={"content": [*blocks[:place], added, *blocks[place:]]})
    found = blocks_of(there(edited))
    if here.opaque is not None:
        assert [each for each in found if each.get("text") != added.text] == blocks_of(answer)


def test_a_text_takes_the_place_of_the_text_that_it_was() -> None:
    answer = kernel.Message.model_validate(
        {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"type": "text", "text": "secret", "citations": [{"url": "u"}]},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_call", "id": "1", "name": "n", "input": {}, "item": {"id": "fc"}},
            ],
        }
    )
    here = readable_message(answer)
    assert isinstance(here.content, list)
    here.content[0] = TextBlock(text="[redacted]")
    assert blocks_of(there(here)) == [
        THOUGHT,
        {"type": "text", "text": "[redacted]"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_call", "id": "1", "name": "n", "input": {}, "item": {"id": "fc"}},
    ]
    here.content = "all in one"
    assert blocks_of(there(here)) == [
        THOUGHT, {"type": "text", "text": "all in one"}, {"type": "redacted_thinking", "data": "x"},
    ]  # fmt: skip


def test_arguments_that_were_changed_lose_what_the_service_said_of_the_call() -> None:
    call = {"type": "tool_call", "id": "1", "name": "n", "input": {"a": 1}, "item": {"id": "fc"}}
    here = readable_message(kernel.Message.model_validate({"role": "assistant", "content": [call]}))
    assert isinstance(here.content, list)
    here.content[0].arguments["a"] = 2  # pyright: ignore[reportAttributeAccessIssue] -- a call
    expected = {"type": "tool_call", "id": "1", "name": "n", "input": {"a": 2}}
    assert blocks_of(there(here)) == [expected]


def test_system_content_may_be_blocks() -> None:
    message = Message(role="system", content=[TextBlock(text="Be "), TextBlock(text="brief.")])
    expected = [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]
    found = there(message)
    assert (found.role, blocks_of(found)) == ("system", expected)


def test_each_result_of_a_tool_message_is_a_message_and_the_rest_is_the_users() -> None:
    message = Message(
        role="tool",
        content=[
            ToolResultBlock(tool_use_id="1", content="sunny"),
            ToolResultBlock(tool_use_id="2", content=[TextBlock(text="warm")]),
            TextBlock(text="and now?"),
        ],
    )
    assert kernel_messages(message) == [
        kernel.Message(role="tool", tool_call_id="1", content="sunny"),
        kernel.Message(role="tool", tool_call_id="2", content=[kernel.TextBlock(text="warm")]),
        kernel.Message(role="user", content=[kernel.TextBlock(text="and now?")]),
    ]


@pytest.mark.parametrize("content", ["sunny", [], [TextBlock(text="sunny")]])
def test_a_tool_message_without_a_result_is_refused(content: Any) -> None:
    messages = [Message(role="user", content="hi"), Message(role="tool", content=content)]
    with pytest.raises(ArcLLMConfigError, match=r"message 1: role `tool` without a `tool_result`"):
        Conversation().convert_messages(messages)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"data:image/jpeg;base64,{PIXEL}", {**BASE64, "media_type": "image/jpeg"}),
        (f"DATA:;base64,{PIXEL}", BASE64),
        ("data:image/svg+xml,%3Csvg%2F%3E", {
            "type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+",
        }),
        ("data:text/plain;charset=utf-8;base64,YQ==", {**BASE64, "media_type": "text/plain", "data": "YQ=="}),
        ("https://e.org/a?b=c,d", {"type": "url", "url": "https://e.org/a?b=c,d"}),
        (f"  {PIXEL}\n", BASE64),
    ],
)  # fmt: skip
def test_the_source_of_an_image_is_base64_or_an_address(source: str, expected: Any) -> None:
    image = ImageBlock(source=source, media_type="image/png")
    assert dump_block(kernel_block(image, {}))["source"] == expected


@pytest.mark.parametrize(
    "source", ["", "http://e.org/a", "file:///etc/passwd", "cat.png", "data:image/png", "ü"]
)
def test_any_other_source_is_refused(source: str) -> None:
    message = Message(role="user", content=[ImageBlock(source=source, media_type="image/png")])
    with pytest.raises(ArcLLMConfigError, match=r"message 0: the `source` of an image is .*https:"):
        Conversation().convert_messages([message])


@pytest.mark.parametrize(
    "opaque",
    [
        [{}],
        [{"type": "hidden"}],
        [{"type": "hidden", "block": 5}],
        [{"type": "visible"}],
        [{"type": "origin", "metadata": "x"}],
        [{"type": "hidden", "block": {"type": "text"}}],
    ],
)
def test_opaque_data_that_no_model_wrote_is_refused(opaque: Any) -> None:
    message = Message(role="assistant", content="hi", opaque=opaque)
    with pytest.raises(ArcLLMConfigError, match=r"message 0: its `opaque` is not what a model"):
        Conversation().convert_messages([message])


@pytest.mark.parametrize("role", ["system", "developer", "tool", "nobody", 5])
def test_opaque_data_makes_no_message_that_of_another_speaker(role: Any) -> None:
    origin = {"type": "origin", "role": role}
    assert there(Message(role="user", content="hi", opaque=[origin])).role == "user"


def test_tools_keep_their_schema() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string"}}, "x-own": [1]}
    tools = [Tool(name="look", description="Looks.", parameters=schema)]
    assert kernel_tools(tools) == [
        kernel.ToolSpec(name="look", description="Looks.", parameters=schema)
    ]
    assert kernel_tools(None) is None
