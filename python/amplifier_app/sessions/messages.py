"""The messages of a stored session, and what was said in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from amplifier_modules.stores import StoredEvent


def list_messages(events: Iterable[StoredEvent]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the messages that were stored and the numbers of their events, compacted ones too."""
    from amplifier_modules.contexts.history_events import CONTEXT_MESSAGE

    for event in events:
        if event.kind == CONTEXT_MESSAGE:
            yield event.number, event.body["message"]


def list_texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a message, without what the model thought."""
    content = message.get("content")
    blocks: list[Any] = [content] if isinstance(content, str) else content or []
    for block in blocks:
        if isinstance(block, str):
            yield block
        elif isinstance(block, Mapping):
            fields = cast("Mapping[str, Any]", block)
            match fields.get("type"):
                case "text":
                    yield str(fields.get("text") or "")
                case "thinking" | "redacted_thinking" | "tool_call" | "tool_use":
                    pass
                case kind:
                    yield f"[{kind}]"
