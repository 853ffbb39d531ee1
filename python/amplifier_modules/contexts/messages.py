"""Messages of a conversation: who wrote them, their calls, and which of them belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

Message = dict[str, Any]

SYSTEM = frozenset(("system", "developer"))
RESULTS = frozenset(("tool", "function"))
ROLES = SYSTEM | RESULTS | {"user", "assistant"}


NOTES = "project-notes"
"""The `source` of messages that requests always have whole: notes of the user and the project."""


def program_of(message: Message) -> Any:
    """Return the part of the program that wrote a message, None for people and models."""
    metadata = message.get("metadata")
    return cast("dict[str, Any]", metadata).get("source") if isinstance(metadata, dict) else None


def is_by_user(message: Message) -> bool:
    """Whether a person wrote it, not a hook, a tool or the context."""
    is_user = message.get("role") == "user" and program_of(message) is None
    return is_user and not _has_results(message)


def group_messages(messages: list[Message]) -> Iterator[list[int]]:
    """Yield the indices of messages that stay together: a message and the tool results after it."""
    group: list[int] = []
    for index, message in enumerate(messages):
        if group and message.get("role") not in RESULTS and not _has_results(message):
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def can_be_sent(message: Mapping[str, Any]) -> bool:
    """Whether a message has a role that requests know."""
    return has_known_role(message.get("role"))


def has_known_role(role: Any) -> bool:
    """Whether requests know this role."""
    return isinstance(role, str) and role in ROLES


def count_behind_calls(messages: list[Message]) -> int:
    """Return how many messages at the end are neither a call nor a result."""
    count = 0
    while count < len(messages) and messages[-1 - count].get("role") not in ("assistant", "tool"):
        count += 1
    return count


def _has_results(message: Message) -> bool:
    """Whether a message has the results of tools as blocks, as in the dialect of Anthropic."""
    content = message.get("content")
    if message.get("role") != "user" or not isinstance(content, list):
        return False
    return any(
        isinstance(block, dict) and cast("Message", block).get("type") == "tool_result"
        for block in cast("list[Any]", content)
    )


def call_names(message: Message) -> dict[Any, str]:
    """Return the tool of each call of an assistant message by its id.

    A call is in `tool_calls`, in `content`, or in both.
    """
    return dict(map(_id_and_name, _list_calls(message)))


NO_IDS: frozenset[Any] = frozenset()
"""What most messages have; an empty set of each takes 216 bytes."""


def call_ids(message: Message) -> set[Any] | frozenset[Any]:
    """Return the ids of the calls of an assistant message."""
    return {call["id"] for call in _list_calls(message)} or NO_IDS


def find_calls(message: Message) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the tool and the arguments of each call of an assistant message by its id."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for call in _list_calls(message):
        id, name = _id_and_name(call)
        arguments = call.get("arguments") or call.get("input")
        if id not in found or isinstance(arguments, dict):
            found[id] = (name, dict(cast("Message", arguments)) if arguments else {})
    return found


def _list_calls(message: Message) -> list[Message]:
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


def _has_id(call: Any) -> bool:
    # Without a cast, which would take as long as the question.
    return isinstance(call, dict) and isinstance(call.get("id"), str)  # pyright: ignore[reportUnknownMemberType]


def _id_and_name(call: Message) -> tuple[Any, str]:
    return call["id"], str(call.get("name") or call.get("tool") or "")
