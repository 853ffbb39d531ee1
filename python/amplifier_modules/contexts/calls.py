"""The tool calls of a message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from .groups import Message


def call_names(message: Message) -> dict[Any, str]:
    """Return the tool of each call of an assistant message by its id.

    A call is in `tool_calls`, in `content`, or in both.
    """
    return dict(map(_named, _calls(message)))


def call_ids(message: Message) -> set[Any]:
    """Return the ids of the calls of an assistant message."""
    return {call["id"] for call in _calls(message)}


def _calls(message: Message) -> list[Message]:
    calls = [each for each in _dicts(message, "tool_calls") if isinstance(each.get("id"), str)]
    calls += [
        each
        for each in _dicts(message, "content")
        if each.get("type") == "tool_call" and isinstance(each.get("id"), str)
    ]
    return calls


def _dicts(message: Message, key: str) -> Iterable[Message]:
    values: Any = message.get(key)
    if not isinstance(values, list):
        return ()
    found = cast("list[Any]", values)
    return (cast("Message", each) for each in found if isinstance(each, dict))


def _named(call: Message) -> tuple[Any, str]:
    return call["id"], str(call.get("name") or call.get("tool") or "")
