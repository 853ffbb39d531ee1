"""Conversations that are carried on: what they hold, and what is repaired."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from .result import Message

logger = logging.getLogger(__name__)

_NO_RESULT = "This call has no result: the conversation was carried on without it."


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Return the messages of a conversation without its system prompts.

    They are copied one level deep: a long conversation must not slow each of its turns down.
    """
    return [{**each} for each in messages if each.get("role") != "system"]


def repair_history(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Return a copy of a conversation in which each tool call has a result.

    Providers refuse a conversation in which a call has none. What is added is logged.
    """
    found: list[Message] = []
    waiting: dict[str, str] = {}
    added = 0
    for message in messages:
        if message.get("role") == "tool":
            waiting.pop(str(message.get("tool_call_id")), None)
        elif waiting:
            found.extend(_make_missing_results(waiting))
            added += len(waiting)
            waiting.clear()
        found.append(deepcopy(dict(message)))
        if message.get("role") == "assistant":
            waiting = dict(_list_calls(message))
    found.extend(_make_missing_results(waiting))
    added += len(waiting)
    if added:
        logger.warning(
            "%d tool calls of the given `messages` had no result and got a synthetic one", added
        )
    return found


def is_repair(message: Mapping[str, Any]) -> bool:
    """Whether `repaired` added this message."""
    return message.get("content") == _NO_RESULT


def _make_missing_results(waiting: Mapping[str, str]) -> Iterator[Message]:
    for call_id, name in waiting.items():
        yield {
            "role": "tool",
            "tool_call_id": call_id,
            "name": name,
            "content": _NO_RESULT,
            "is_error": True,
        }


def _list_calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    content: Any = message.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    calls: list[Any] = [
        *(message.get("tool_calls") or []),
        *(block for block in blocks if isinstance(block, Mapping) and _is_call(block)),
    ]
    for call in calls:
        if isinstance(call, Mapping) and "id" in call:
            each = cast("Mapping[str, Any]", call)
            yield str(each["id"]), str(each.get("name") or each.get("tool") or "")


def _is_call(block: Any) -> bool:
    return block.get("type") == "tool_call"
