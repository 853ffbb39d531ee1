"""What a model wrote besides its text and its calls: opaque entries that ride along in a message.

The entries are plain JSON, in the order of the answer:

    {"type": "origin", ...}                    who wrote the message, as its provider wants to know
    {"type": "hidden", "block": {...}}         a block that this package has no type for
    {"type": "visible", "kind": "text", "mark": "…", "chars": 12, "more": {...}}
                                               the place of a block that can be read, and what its
                                               service said of it besides

A mark tells whether a block is still what the model wrote: what was changed has lost its `more`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, TypeVar

BlockT = TypeVar("BlockT")

_MARK_CHARS = 16


def mark_of(*parts: object) -> str:
    """Return the mark of a block with these parts, all of them JSON."""
    written = json.dumps(parts, sort_keys=True, default=str)
    return sha256(written.encode()).hexdigest()[:_MARK_CHARS]


def text_mark(text: str) -> str:
    """Return the mark of a text."""
    return mark_of("text", text)


def call_mark(id: str, name: str, arguments: dict[str, Any]) -> str:
    """Return the mark of a call."""
    return mark_of("tool_use", id, name, arguments)


def arrange_answer(
    entries: Sequence[dict[str, Any]], text: str, calls: Sequence[tuple[BlockT, str]]
) -> list[str | BlockT] | None:
    """Return the texts and the calls of an answer in the order in which the model wrote them.

    Args:
        entries: Its opaque entries.
        text: All of its text.
        calls: Its calls, each with its mark.

    Returns:
        The parts of the text and the calls; None if they are not what the entries speak of.
    """
    found: list[str | BlockT] = []
    position, waiting = 0, list(reversed(calls))
    for entry in entries:
        if entry.get("type") != "visible":
            continue
        if entry.get("kind") == "text" and isinstance(entry.get("chars"), int):
            part = text[position : position + entry["chars"]]
            position += len(part)
            found.append(part)
            is_same = entry.get("mark") == text_mark(part)
        else:
            call, mark = waiting.pop() if waiting else (None, None)
            if call is not None:
                found.append(call)
            is_same = entry.get("mark") == mark
        if not is_same:
            return None
    return found if position == len(text) and not waiting else None
