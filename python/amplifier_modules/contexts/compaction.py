"""Shortens the view of a conversation that is too long for a request.

The conversation itself stays complete in the context. The oldest tool results are truncated first,
then the oldest messages are left out, a tool call always together with its results. System
messages, the user's last message and the newest group of messages are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field

from amplifier_modules.settings import Settings

from .budget import estimate_tokens

Message = dict[str, Any]

_SYSTEM = ("system", "developer")
_NOTICE = "compaction"


def _whole(value: Any) -> Any:
    return math.floor(value) if isinstance(value, float) and math.isfinite(value) else value


Count = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=10**12)]
"""A whole number; a float, such as `2e5`, is rounded down."""


class CompactionSettings(Settings):
    """How a view is shortened."""

    unknown_keys = "ignore"

    compact_threshold: float = Field(default=0.92, ge=0, le=1)
    """Share of the budget above which older content is left out of requests."""
    target_usage: float = Field(default=0.50, ge=0, le=1)
    """Share of the budget that a shortened request aims at."""
    protected_recent: float = Field(default=0.30, ge=0, le=1)
    """Share of the newest messages that are left out last."""
    protected_tool_results: Count = 5
    """How many of the newest tool results are never truncated."""
    truncate_chars: Count = 250
    """Characters that stay of a truncated tool result."""


@dataclass
class View:
    """The messages for requests, with their estimated tokens."""

    messages: list[Message]
    tokens: list[int]
    total: int = 0
    results_truncated: int = 0
    messages_removed: int = 0

    def add(self, message: Message, before_last: int = 0) -> None:
        """Add a message, at the end or before the last ones."""
        tokens = estimate_tokens(message)
        place = len(self.messages) - before_last
        self.messages.insert(place, message)
        self.tokens.insert(place, tokens)
        self.total += tokens

    def is_over(self, budget: float) -> bool:
        """Whether the view has more tokens than this."""
        return self.total > budget


def compact(view: View, budget: int, settings: CompactionSettings) -> View:
    """Return a view that fits the budget, or comes as close as possible.

    Old messages are left out until the target is reached, recent ones only while the view is
    still above the threshold.
    """
    messages, tokens, total = list(view.messages), list(view.tokens), view.total
    target = budget * settings.target_usage
    truncated = 0
    for index in _old_results(messages, settings.protected_tool_results):
        if total <= target:
            break
        shortened = _shortened(messages[index], settings.truncate_chars)
        if shortened is not None:
            saved = tokens[index] - estimate_tokens(shortened)
            messages[index] = shortened
            tokens[index] -= saved
            total -= saved
            truncated += 1
    removed: set[int] = set()
    recent = len(messages) * (1 - settings.protected_recent)
    for group in _removable(messages):
        goal = target if group[0] < recent else budget * settings.compact_threshold
        if total <= goal:
            break
        removed.update(group)
        total -= sum(tokens[index] for index in group)
    count = view.messages_removed + len(removed)
    result = View([], [])
    result.results_truncated = view.results_truncated + truncated
    result.messages_removed = count
    notice = _notice(count) if removed else None
    for index, message in enumerate(messages):
        if notice is not None and (index in removed or _is_notice(message)):
            result.add(notice)
            notice = None
        if index in removed or (removed and _is_notice(message)):
            continue
        result.messages.append(message)
        result.tokens.append(tokens[index])
        result.total += tokens[index]
    return result


def _old_results(messages: list[Message], protected: int) -> list[int]:
    results = [index for index, message in enumerate(messages) if message.get("role") == "tool"]
    return results[: max(0, len(results) - protected)]


def _shortened(message: Message, characters: int) -> Message | None:
    """Return a tool message with truncated content, None if that saves nothing."""
    content = message.get("content")
    if isinstance(content, list):
        # Images are replaced by a placeholder.
        blocks = cast("list[dict[str, Any]]", content)
        content = "\n".join(str(block.get("text", "[image]")) for block in blocks)
    if not isinstance(content, str) or len(content) <= characters + 100:
        return None
    cut = len(content) - characters
    return {**message, "content": f"{content[:characters]}\n[{cut} more characters left out]"}


def _groups(messages: list[Message]) -> Iterator[list[int]]:
    """Yield groups of messages that stay together: a message and the tool results after it."""
    group: list[int] = []
    for index, message in enumerate(messages):
        if group and message.get("role") != "tool":
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def _removable(messages: list[Message]) -> list[list[int]]:
    """Return the groups that may be left out, oldest first."""
    said = [index for index, message in enumerate(messages) if _is_said_by_user(message)]
    last_said = said[-1] if said else -1
    return [
        group
        for group in list(_groups(messages))[:-1]
        if last_said not in group
        and messages[group[0]].get("role") not in _SYSTEM
        and not _is_notice(messages[group[0]])
    ]


def _is_said_by_user(message: Message) -> bool:
    return message.get("role") == "user" and _source(message) is None


def _notice(count: int) -> Message:
    text = (
        f"<system-reminder>{count} earlier messages of this conversation are not shown, "
        "because it has grown too long.</system-reminder>"
    )
    return {"role": "user", "content": text, "metadata": {"source": _NOTICE}}


def _is_notice(message: Message) -> bool:
    return _source(message) == _NOTICE


def _source(message: Message) -> Any:
    """Return the part of the program that wrote a message, None for people and models."""
    metadata = message.get("metadata")
    return cast("dict[str, Any]", metadata).get("source") if isinstance(metadata, dict) else None
