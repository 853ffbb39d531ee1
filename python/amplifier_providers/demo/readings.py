"""Typed values from foreign JSON; a value of another type reads as empty."""

from __future__ import annotations

from typing import Any, cast


def mapping(value: object) -> dict[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: object) -> str:
    """Return `value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def whole(value: object) -> int | None:
    """Return `value` if it is a whole number, else None; true and false do not count."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def blocks(content: object) -> list[dict[str, Any]]:
    """Return the content of a message as blocks; a plain text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(block) for block in items(content)]
