"""The tool calls of a message."""

from __future__ import annotations

from typing import Any, cast

from .groups import Message


def call_names(message: Message) -> dict[Any, str]:
    """Return the tool of each call of an assistant message by its id.

    A call is in `tool_calls`, in `content`, or in both.
    """
    content = message.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    given: Any = message.get("tool_calls")
    calls = cast("list[Any]", given) if isinstance(given, list) else []
    found = [each for each in calls if _has_id(each)]
    found += [each for each in blocks if _has_id(each) and each.get("type") == "tool_call"]
    return dict(map(_named, found))


def call_ids(message: Message) -> set[Any]:
    """Return the ids of the calls of an assistant message."""
    return set(call_names(message))


def _has_id(call: Any) -> bool:
    if not isinstance(call, dict):
        return False
    return isinstance(cast("Message", call).get("id"), str)


def _named(call: Message) -> tuple[Any, str]:
    return call["id"], str(call.get("name") or call.get("tool") or "")
