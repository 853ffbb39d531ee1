"""The text and the tool results of a turn, as blocks of the Claude dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast


def text_block(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def turn_content(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the text and tool result blocks of what followed a prompt."""
    return [block for message in messages for block in _list_blocks(message)]


def _list_blocks(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    if message.get("role") == "tool":
        yield {
            "type": "tool_result",
            "tool_use_id": str(message.get("tool_call_id") or ""),
            "content": "\n".join(_list_texts(content)),
            "is_error": True if message.get("is_error") else None,
        }
    elif message.get("role") == "assistant":
        yield from map(text_block, _list_texts(content))


def _list_texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in cast("Iterable[object]", content or ()):
        if isinstance(block, Mapping):
            fields = cast("Mapping[str, object]", block)
            if fields.get("type") == "text" and isinstance(text := fields.get("text"), str):
                yield text
