"""Streaming blocks are plain dataclasses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from amplifier_core.content_models import (
    ContentBlock,
    ContentBlockType,
    TextContent,
    ThinkingContent,
    ToolCallContent,
    ToolResultContent,
)


# Holds: differ-2
@pytest.mark.parametrize(
    ("block", "data"),
    [
        (TextContent(text="a"), {"type": "text", "text": "a"}),
        (ThinkingContent(text="a"), {"type": "thinking", "text": "a"}),
        (
            ToolCallContent(id="1", name="ls", arguments={"a": 1}),
            {"type": "tool_call", "id": "1", "name": "ls", "arguments": {"a": 1}},
        ),
        (
            ToolResultContent(tool_call_id="1", output=[1]),
            {"type": "tool_result", "tool_call_id": "1", "output": [1]},
        ),
        (
            ToolResultContent(tool_call_id="1", error="no"),
            {"type": "tool_result", "tool_call_id": "1", "output": None, "error": "no"},
        ),
        (ContentBlock(ContentBlockType.TEXT), {"type": "text"}),
        (TextContent(text="a", raw={}), {"type": "text", "text": "a"}),
        (
            TextContent(text="a", raw={"z": [1, None, 2.5, True], "a": {"b": "c"}}),
            {"type": "text", "raw": {"z": [1, None, 2.5, True], "a": {"b": "c"}}, "text": "a"},
        ),
    ],
)
def test_a_block_as_a_dict(block: ContentBlock, data: dict[str, Any]) -> None:
    assert list(block.to_dict().items()) == list(data.items())
    assert block.type.value == data["type"]


def test_raw_that_is_not_plain_json_is_left_out() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for raw in (object(), {"a": object()}, {1: 2}, [float("nan")], circle, {"a": (1, 2)}):
        assert TextContent(text="a", raw=raw).to_dict() == {"type": "text", "text": "a"}


def test_raw_may_hold_one_value_twice_and_lie_deep() -> None:
    shared = {"a": 1}
    deep: list[Any] = [shared, shared]
    for _ in range(10_000):
        deep = [deep]

    assert TextContent(raw=deep).to_dict()["raw"] is deep


def test_the_kind_is_a_string_too() -> None:
    assert ContentBlockType("thinking") is ContentBlockType.THINKING
    assert json.dumps(ContentBlockType.TOOL_CALL) == '"tool_call"'
    assert [kind.value for kind in ContentBlockType] == [
        "text",
        "thinking",
        "tool_call",
        "tool_result",
    ]


def test_only_the_standard_library_is_imported() -> None:
    code = (
        "import sys, amplifier_core\n"
        "before = set(sys.modules)\n"
        "import amplifier_core.content_models\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'amplifier_core'}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"
