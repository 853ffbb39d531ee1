"""Random messages and blocks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from arcllm import (
    ContentBlock,
    ImageBlock,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
NAMES = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=8)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TEXTS, JSON, max_size=3)
TEXT_BLOCKS = st.builds(TextBlock, text=TEXTS)
IMAGES = st.builds(
    ImageBlock,
    source=st.sampled_from(["iVBORw0KGgo=", "https://example.org/cat.png"]),
    media_type=st.sampled_from(["image/png", "image/jpeg"]),
)
CALLS = st.builds(ToolUseBlock, id=NAMES, name=NAMES, arguments=ARGUMENTS)


def results(inner: st.SearchStrategy[ContentBlock]) -> st.SearchStrategy[ContentBlock]:
    """Results of tools with such blocks in them."""
    content = TEXTS | st.lists(inner, min_size=1, max_size=3)
    return st.builds(ToolResultBlock, tool_use_id=NAMES, content=content)


BLOCKS: st.SearchStrategy[ContentBlock] = st.recursive(
    TEXT_BLOCKS | IMAGES | CALLS,
    lambda inner: inner | results(inner),
    max_leaves=6,
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant"]),
    content=TEXTS | st.lists(BLOCKS, max_size=4),
)
