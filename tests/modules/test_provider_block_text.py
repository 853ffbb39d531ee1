"""Code, tables and charts of the Claude dialect as texts that a model can read."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard.claude import ChartBlock, ClaudeMessage, CodeBlock, TableBlock
from amplifier_providers.answers.block_text import block_text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (
            {"type": "code", "language": "python", "text": "print(1)\n"},
            "```python\nprint(1)\n```",
        ),
        ({"type": "code", "language": None, "text": "x"}, "```\nx\n```"),
        ({"type": "code", "language": "a`b", "text": ""}, "```\n\n```"),
        ({"type": "code", "language": "md", "text": "```\nx\n```"}, "````md\n```\nx\n```\n````"),
        (
            {"type": "table", "columns": ["a", "b"], "rows": [[1, "x|y"], ["two\nlines", None]]},
            "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n| two<br>lines | null |",
        ),
        (
            {"type": "table", "columns": ["a"], "rows": [[], ["é", {"k": [True]}]]},
            '| a |  |\n| --- | --- |\n|  |  |\n| é | {"k": [true]} |',
        ),
        (
            {"type": "chart", "kind": "bar", "data": {"é": [1, 2]}},
            '```json\n{"kind": "bar", "data": {"é": [1, 2]}}\n```',
        ),
        ({"type": "claude/code", "text": "x", "visibility": "user"}, "```\nx\n```"),
        ({"type": "claude/text", "text": "x", "visibility": "user"}, "x"),
    ],
)
def test_a_block_is_text(block: dict[str, Any], text: str) -> None:
    assert block_text(block) == text


CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)


@pytest.mark.parametrize(
    "block",
    [
        {}, {"type": None}, {"type": "hologram"}, {"type": "text", "text": "x"},
        {"type": "code"}, {"type": "code", "text": 5},
        {"type": "table", "columns": ["a"]}, {"type": "table", "columns": "a", "rows": []},
        {"type": "table", "columns": ["a"], "rows": ["b"]},
        {"type": "table", "columns": [], "rows": []},
        {"type": "table", "columns": ["a"] * 100_000, "rows": [[]] * 100_000},
        {"type": "table", "columns": ["a"], "rows": [[CIRCULAR]]},
        {"type": "chart", "kind": "bar"}, {"type": "chart", "kind": "bar", "data": CIRCULAR},
        {"type": "claude/tool_use", "id": "1", "name": "x", "input": {}},
        {"type": "claude/tool_call", "text": "x"}, {"type": "kernel/code", "text": "x"},
    ],
)  # fmt: skip
def test_no_text_stands_for_other_blocks(block: dict[str, Any]) -> None:
    assert block_text(block) is None


# Holds: dialect-4
def test_the_blocks_of_the_dialect_are_text_on_their_way_through_the_kernel() -> None:
    blocks = [
        CodeBlock(language="rust", text="fn main() {}"),
        TableBlock(columns=["a"], rows=[[1]]),
        ChartBlock(kind="line", data=[1]),
    ]
    kernel = ClaudeMessage(role="user", content=list(blocks)).to_kernel()

    assert isinstance(kernel.content, list)
    assert [block_text(block.model_dump()) for block in kernel.content] == [
        "```rust\nfn main() {}\n```",
        "| a |\n| --- |\n| 1 |",
        '```json\n{"kind": "line", "data": [1]}\n```',
    ]


TEXT = st.text(st.sampled_from("ab`|\\\n\r ~é\u2028"), max_size=20)


@given(TEXT, st.one_of(st.none(), TEXT))
def test_nothing_in_code_ends_its_fence(code: str, language: str | None) -> None:
    text = block_text({"type": "code", "language": language, "text": code})

    assert text is not None
    found = re.fullmatch(r"(`{3,})[^`\n\r]*\n(.*)\1", text, re.DOTALL)
    assert found is not None
    assert found[1] not in found[2]
    assert found[2] == (code if code.endswith("\n") else f"{code}\n")


CELLS = st.one_of(TEXT, st.none(), st.booleans(), st.integers(), st.floats(), st.lists(TEXT))


@given(st.lists(st.lists(CELLS, max_size=4), min_size=1, max_size=4))
def test_a_table_is_a_table_whatever_is_in_its_cells(lines: list[list[Any]]) -> None:
    columns, *rows = lines
    text = block_text({"type": "table", "columns": columns, "rows": rows})

    width = max(map(len, lines))
    if width == 0:
        assert text is None
        return
    assert text is not None
    drawn = text.splitlines()
    assert len(drawn) == len(lines) + 1
    for line in drawn:
        # As GitHub reads it: a backslash takes what follows out of the count.
        assert len(re.sub(r"\\.", "", line).split("|")) == width + 2
    assert json.dumps(text)
