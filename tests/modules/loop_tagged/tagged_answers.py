"""Providers in small for the tests of calls in tags, and what hooks heard of their answers."""

from __future__ import annotations

from typing import Any

from amplifier_core.message_models import ChatResponse, TextBlock
from amplifier_providers.base import BaseProvider

LOOK = '<tool>{"tool_name": "look", "arguments": {"x": 1}}</tool>'
"""A call as a model writes it."""


class Pieces(BaseProvider):
    """Yields the pieces of one answer after the other; an exception among them is raised."""

    name = "pieces"

    def __init__(self, *answers: list[Any]) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []

    async def chunks(self, request: Any, **options: Any) -> Any:
        self.requests.append(request)
        for piece in self.answers.pop(0):
            if isinstance(piece, BaseException):
                raise piece
            if callable(piece):
                await piece()
            else:
                yield piece


class Whole:
    """Has `complete` alone."""

    name = "whole"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []

    async def complete(self, request: Any, **options: Any) -> Any:
        self.requests.append(request)
        answer = self.answers.pop(0)
        return ChatResponse(content=[TextBlock(text=answer)]) if isinstance(answer, str) else answer


def heard(turn: Any, prefix: str = "agent:") -> list[tuple[Any, ...]]:
    """Return the events of an answer, each its short name and its values."""
    return [
        (name.removeprefix(prefix), *(data[key] for key in data if key not in ADDED))
        for name, data in turn.events
        if name.startswith(prefix)
    ]


ADDED = {"timestamp", "session_id", "parent_id", "request_id"}


def ended(turn: Any) -> list[tuple[int, str, Any]]:
    """Return number, name, and arguments or error of each call that ended."""
    return [
        (number, call["name"], call["arguments"] if call["error"] is None else call["error"])
        for name, number, call in (each for each in heard(turn) if each[0] == "tool_call_end")
    ]


def blocks(turn: Any) -> list[tuple[Any, ...]]:
    """Return the events of blocks: short name, index, type, and what they add."""
    found: list[tuple[Any, ...]] = []
    for name, data in turn.events:
        if not name.startswith("content_block:"):
            continue
        more = data.get("delta", data.get("partial_json"))
        if name == "content_block:end":
            block = data["block"]
            more = "dropped" if data.get("dropped") else block.get("text", block.get("arguments"))
        found.append(
            (name.removeprefix("content_block:"), data["block_index"], data["block_type"], more)
        )
    return found
