"""Thoughts that came though nobody asked for them: kept for their service, and not shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from amplifier_providers.requests.requested_thinking import HIDDEN, THOUGHTS

ResponseT = TypeVar("ResponseT")


def is_thought(block: Any) -> bool:
    """Whether a block, of any form, holds thinking."""
    kind = _field(block, "type")
    return getattr(kind, "value", kind) in THOUGHTS


def is_hidden(block: Any) -> bool:
    """Whether a block is a thought that is kept for its service alone."""
    return is_thought(block) and _field(block, "visibility") == HIDDEN


def with_hidden_thoughts(response: ResponseT) -> ResponseT:
    """Return a response whose thoughts are kept for the service alone."""
    content: Any = getattr(response, "content", None)
    if not isinstance(response, BaseModel) or not isinstance(content, list):
        return response
    blocks = cast("list[Any]", content)
    if not any(map(is_thought, blocks)):
        return response
    changes: dict[str, Any] = {"content": list(map(_hide_thought, blocks))}
    if isinstance(shown := getattr(response, "content_blocks", None), list):
        changes["content_blocks"] = [
            block for block in cast("list[Any]", shown) if not is_thought(block)
        ]
    return response.model_copy(update=changes)


def _hide_thought(block: Any) -> Any:
    if not is_thought(block):
        return block
    if isinstance(block, BaseModel):
        return block.model_copy(update={"visibility": HIDDEN})
    if isinstance(block, Mapping):
        return {**cast("Mapping[str, Any]", block), "visibility": HIDDEN}
    return block


def _field(block: Any, key: str) -> Any:
    if isinstance(block, Mapping):
        return cast("Mapping[str, Any]", block).get(key)
    return getattr(block, key, None)
