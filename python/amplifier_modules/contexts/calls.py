"""The tool calls of a message."""

from __future__ import annotations

from typing import Any, cast

from .groups import Message


def call_names(message: Message) -> dict[Any, str]:
    """Return the tool of each call of an assistant message by its id.

    A call is in `tool_calls`, in `content`, or in both.
    """
    return dict(map(_id_and_name, _calls(message)))


def call_ids(message: Message) -> set[Any]:
    """Return the ids of the calls of an assistant message."""
    return {call["id"] for call in _calls(message)}


def _calls(message: Message) -> list[Message]:
    calls, blocks = message.get("tool_calls"), message.get("content")
    found: list[Message] = []
    if isinstance(calls, list):
        found += [each for each in cast("list[Message]", calls) if _has_id(each)]
    if isinstance(blocks, list):
        found += [
            each
            for each in cast("list[Message]", blocks)
            if _has_id(each) and each.get("type") == "tool_call"
        ]
    return found


def _has_id(call: object) -> bool:
    return isinstance(call, dict) and isinstance(cast("Message", call).get("id"), str)


def _id_and_name(call: Message) -> tuple[Any, str]:
    return call["id"], str(call.get("name") or call.get("tool") or "")
