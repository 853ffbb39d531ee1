"""Text that hooks add to one request only, not to the history."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from amplifier_providers.requests.ephemeral import EPHEMERAL


@dataclass(frozen=True)
class Injection:
    """One piece of text for the next request."""

    content: str
    role: str = "system"
    append_to_last_tool_result: bool = False
    """Append it to the last message, if that is a tool result."""


def injections_of(result: Any) -> list[Injection]:
    """Return the injections of a processed hook result."""
    if getattr(result, "action", None) != "inject_context":
        return []
    items: list[Any] = getattr(result, "context_injections", None) or []
    if items:
        found = [
            Injection(item.content, item.role, item.append_to_last_tool_result) for item in items
        ]
    else:
        found = [
            Injection(
                result.context_injection or "",
                result.context_injection_role,
                result.append_to_last_tool_result,
            )
        ]
    return [injection for injection in found if injection.content]


def with_injections(
    messages: list[dict[str, Any]], injections: Collection[Injection]
) -> list[dict[str, Any]]:
    """Return the messages with the injections at their end; the arguments are not changed.

    Their metadata says that the next request does not have them.
    """
    if not injections:
        return messages
    result = list(messages)
    glued: list[str] = []
    appended: list[dict[str, Any]] = []
    ends_in_tool_result = bool(result) and result[-1].get("role") == "tool"
    for injection in injections:
        if injection.append_to_last_tool_result and ends_in_tool_result:
            glued.append(injection.content)
        else:
            message = {"role": injection.role, "content": injection.content}
            appended.append({**message, "metadata": {EPHEMERAL: True}})
    if glued:
        result[-1] = _append_texts(result[-1], glued)
    return result + appended


def _append_texts(message: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    content = message.get("content")
    message = {**message, "metadata": {**(message.get("metadata") or {}), EPHEMERAL: True}}
    if isinstance(content, list):
        blocks: list[Any] = [*content, *({"type": "text", "text": text} for text in texts)]  # pyright: ignore[reportUnknownVariableType] -- block dicts of any kind
        return {**message, "content": blocks}
    return {**message, "content": "\n\n".join([str(content or ""), *texts])}
