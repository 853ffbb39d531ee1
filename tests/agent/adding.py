"""A tool that adds, and the call of a model that asks for it."""

from __future__ import annotations

from typing import Any

from amplifier_agent import tool


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def asks_to_add(**arguments: Any) -> dict[str, Any]:
    return {"tool": "add", "arguments": arguments}
