"""The limit in bytes of a tool's result, where it enters the conversation."""

from __future__ import annotations

import json
from typing import Any

from .settings import MIN_RESULT_BYTES

_NOTE = "… [{bytes:,} more bytes were cut: `max_result_bytes` of the loop is {limit:,}]"

_NO_JSON = "… [a block was left out: it cannot be written as JSON]"

_PIECE = 1 << 16


def within(limit: int | None, content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return the content of a tool message in at most `limit` bytes of UTF-8.

    What is cut is counted in its place: the end of a text, and the first block that does not fit
    with all that follow. A block that no request could hold is named in its place.

    Args:
        limit: The bytes; None for no limit.
        content: A text, or content blocks.
    """
    if limit is None:
        return content
    if isinstance(content, str):
        return _clip(content, limit)
    kept: list[dict[str, Any]] = []
    room = limit - MIN_RESULT_BYTES // 2
    for index, block in enumerate(content):
        size = _size(block)
        if size is None:
            kept.append({"type": "text", "text": _NO_JSON})
            continue
        if size > room:
            text = block.get("text") if block.get("type") == "text" else None
            rest = sum(_size(other) or 0 for other in content[index + 1 :])
            if isinstance(text, str) and room > MIN_RESULT_BYTES // 2:
                # In JSON a character may take twelve times as many bytes as here, at most.
                kept.append({**block, "text": _beginning(text, room // 12)})
                size = max(0, size - (_size(kept[-1]) or 0))
            note = _NOTE.format(bytes=size + rest, limit=limit)
            return [*kept, {"type": "text", "text": note}]
        kept.append(block)
        room -= size
    return kept


def _clip(text: str, limit: int) -> str:
    size = len(text) if text.isascii() else _utf8_bytes(text)
    if size <= limit:
        return text
    kept = _beginning(text, limit - len(_NOTE) - 40)
    cut = size - len(kept.encode("utf-8", "replace"))
    return kept + _NOTE.format(bytes=cut, limit=limit)


def _utf8_bytes(text: str) -> int:
    """Return how many bytes a text takes, without a copy of all of it."""
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return sum(len(piece.encode("utf-8", "replace")) for piece in pieces)


def _beginning(text: str, most: int) -> str:
    """Return as many whole characters as take at most `most` bytes in UTF-8."""
    text = text[:most]
    if text.isascii():
        return text
    encoded = text.encode("utf-8", "replace")[:most]
    return encoded.decode("utf-8", "ignore")


def _size(block: dict[str, Any]) -> int | None:
    """Return how many bytes a block takes as JSON; None if it is nested too deep, or in itself."""
    try:
        return len(json.dumps(block, default=str))
    except (RecursionError, ValueError):
        return None
