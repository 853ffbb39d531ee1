"""The form of blocks in events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.message_models import TextBlock, ThinkingBlock, ToolCallBlock
from amplifier_modules.loops.answers.response import block_dict
from amplifier_providers.answers.block_record import block_record

TEXTS = st.text(max_size=20)
ARGUMENTS = st.dictionaries(TEXTS, st.integers() | TEXTS, max_size=3)


@given(text=TEXTS, given=ARGUMENTS)
def test_a_typed_block_and_one_for_displays_have_the_same_record(text: str, given: Any) -> None:
    for typed, displayed in (
        (TextBlock(text=text), TextContent(text=text)),
        (ThinkingBlock(thinking=text), ThinkingContent(text=text)),
        (
            ToolCallBlock(id="1", name=text, input=given),
            ToolCallContent(id="1", name=text, arguments=given),
        ),
    ):
        assert block_record(block_dict(typed)) == block_record(displayed.to_dict())


@given(text=TEXTS, given=ARGUMENTS, raw=st.none() | ARGUMENTS)
def test_a_record_has_the_keys_of_the_content_models(text: str, given: Any, raw: Any) -> None:
    for block in (
        {"type": "text", "text": text, "citations": [1]},
        {"type": "thinking", "thinking": text, "signature": "s"},
        {"type": "tool_call", "id": "1", "name": "add", "input": given},
        {"type": "server_tool_use", "id": "1", "input": given},
    ):
        before = dict(block)
        record = block_record(block, raw)

        assert block == before
        assert {key: record[key] for key in block} == block
        assert record.get("raw") == raw
        assert block_record(record) == record
    assert block_record({"type": "thinking", "thinking": text})["text"] == text
    assert block_record({"type": "tool_call", "input": given})["arguments"] == given


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_call", "id": "1", "name": "add", "arguments": None, "error": "not JSON"},
        {"type": "tool_call", "id": "1", "name": "add", "input": {}, "error": "not JSON"},
    ],
)
def test_arguments_that_cannot_be_used_are_none_and_the_input_is_empty(block: Any) -> None:
    record = block_record(block)

    assert (record["arguments"], record["input"]) == (None, {})


def test_a_block_keeps_the_raw_form_it_has() -> None:
    assert block_record({"type": "text", "text": "", "raw": {"n": 1}})["raw"] == {"n": 1}
    assert block_record({"type": "text", "text": "", "raw": {"n": 1}}, {"n": 2})["raw"] == {"n": 2}
