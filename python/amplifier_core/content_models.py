"""Streaming content blocks as plain dataclasses, built on the standard library alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast


class ContentBlockType(str, Enum):  # noqa: UP042 -- `str(member)` keeps its class name
    """The kinds of block that a display knows."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


@dataclass
class ContentBlock:
    """What all blocks share: their kind and the provider's own data."""

    type: ContentBlockType
    raw: Any = None
    """The provider's block: a dict of the wire, or an object of its SDK."""

    def to_dict(self) -> dict[str, Any]:
        """Return the block as plain data; `raw` only when it is truthy and plain JSON."""
        data: dict[str, Any] = {"type": self.type.value}
        if self.raw and _is_json(self.raw):
            data["raw"] = self.raw
        return data


@dataclass
class TextContent(ContentBlock):
    """Text for the user."""

    type: ContentBlockType = ContentBlockType.TEXT
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the block as plain data."""
        return {**super().to_dict(), "text": self.text}


@dataclass
class ThinkingContent(ContentBlock):
    """The model's reasoning, whole: displays never cut it."""

    type: ContentBlockType = ContentBlockType.THINKING
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the block as plain data."""
        return {**super().to_dict(), "text": self.text}


@dataclass
class ToolCallContent(ContentBlock):
    """A tool that the model asks for."""

    type: ContentBlockType = ContentBlockType.TOOL_CALL
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the block as plain data."""
        call = {"id": self.id, "name": self.name, "arguments": self.arguments}
        return {**super().to_dict(), **call}


@dataclass
class ToolResultContent(ContentBlock):
    """What a tool gave back; `error` is written only when it is truthy."""

    type: ContentBlockType = ContentBlockType.TOOL_RESULT
    tool_call_id: str = ""
    output: Any = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the block as plain data."""
        data = {**super().to_dict(), "tool_call_id": self.tool_call_id, "output": self.output}
        if self.error:
            data["error"] = self.error
        return data


def _is_json(value: object) -> bool:
    """Tell whether `value` is made of JSON types only, to any depth and without a cycle."""
    open_containers: set[int] = set()
    work: list[tuple[object, bool]] = [(value, False)]
    while work:
        item, left = work.pop()
        if left:
            open_containers.discard(id(item))
        elif isinstance(item, dict | list):
            if id(cast("object", item)) in open_containers:
                return False
            open_containers.add(id(cast("object", item)))
            work.append((cast("object", item), True))
            if isinstance(item, dict):
                entries = cast("dict[object, object]", item)
                if not all(isinstance(key, str) for key in entries):
                    return False
                work.extend((child, False) for child in entries.values())
            else:
                work.extend((child, False) for child in cast("list[object]", item))
        elif isinstance(item, float):
            if not math.isfinite(item):
                return False
        elif item is not None and not isinstance(item, str | int):
            return False
    return True
