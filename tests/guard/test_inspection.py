"""What `inspect_blocks` shows of the blocks of a message, whatever their dialect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.content_models import TextContent
from amplifier_core.message_models import TextBlock, ThinkingBlock, ToolCallBlock
from amplifier_guard import BlockView, Redactor, inspect_blocks

SECRET = "Zx8Qm2Vt7Lr4Kw9Ns3Hj6Pd1"


def shown(content: Any, **options: Any) -> list[BlockView]:
    return inspect_blocks(content, Redactor([SECRET]), **options)


def test_blocks_of_every_dialect_are_told_in_the_same_form() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"x": 1}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen", "is_error": True}
    assert shown([TextBlock(text="é"), call, result]) == [
        BlockView(0, "text", 1, 2, {}, "é"),
        BlockView(1, "tool_use", 8, 8, {"name": "look", "id": "toolu_1"}, '{"x": 1}'),
        BlockView(2, "tool_result", 4, 4, {"tool_use_id": "toolu_1", "is_error": "true"}, "seen"),
    ]
    kernel = ToolCallBlock(id="1", name="look", input={"x": 1})
    assert shown([ThinkingBlock(thinking="hm"), kernel, TextContent(text="streamed")]) == [
        BlockView(0, "thinking", 2, 2, {}, "hm"),
        BlockView(1, "tool_call", 8, 8, {"name": "look", "id": "1"}, '{"x": 1}'),
        BlockView(2, "text", 8, 8, {}, "streamed"),
    ]


@pytest.mark.parametrize(
    "content", ["alone", {"type": "text", "text": "alone"}, TextBlock(text="alone")]
)
def test_a_text_or_a_block_alone_is_one_block(content: Any) -> None:
    assert shown(content) == [BlockView(0, "text", 5, 5, {}, "alone")]


@pytest.mark.parametrize("content", [None, 7, [], [{}], [{"type": 7, "text": None}], object])
def test_what_is_no_content_is_told_all_the_same(content: Any) -> None:
    assert all(isinstance(str(view), str) for view in shown(content))


def test_a_line_tells_type_labels_size_and_beginning() -> None:
    (view,) = shown({"type": "tool_use", "name": "look", "input": {"path": "a" * 200}}, most=20)
    assert str(view) == '#0 tool_use name=look (212 characters, 212 bytes) {"path": "aaaaaaaaa…'


def test_a_value_whose_name_says_secret_is_not_shown() -> None:
    (view,) = shown({"type": "tool_use", "input": {"password": "correcthorse"}})
    assert view.preview == '{"password": "[REDACTED:password]"}'


# Holds: observe-8
@given(st.text(), st.sampled_from(["text", "thinking", "output", "input", "name", "id", "type"]))
def test_what_is_shown_holds_no_secret_and_nothing_that_acts(around: str, place: str) -> None:
    block = {"type": "text", "name": "n", "id": "i", place: f"{around}{SECRET}\x1b[2J{around}"}
    (view,) = shown([block])
    told = str(view)
    assert not [at for at in range(len(SECRET) - 7) if SECRET[at : at + 8] in told]
    assert not {"\x1b", "\n", "\u202e"} & set(told)
