"""The token budget of a request, and the estimated tokens of a message."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any, cast

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_600
"""Tokens of an image, whatever the length of its data."""
SAFETY_MARGIN_TOKENS = 4_096
"""Tokens kept free, as estimates are inexact."""
MESSAGE_OVERHEAD_TOKENS = 4
"""Tokens of a message without its content."""
_PIECE_CHARS = 1 << 16


def estimate_tokens(message: Mapping[str, Any]) -> int:
    """Return the estimated tokens of a message."""
    content = message.get("content")
    characters, tokens = 0, MESSAGE_OVERHEAD_TOKENS
    if isinstance(content, str):
        characters += len(content)
    elif isinstance(content, list):
        for block in cast("list[Any]", content):
            if isinstance(block, Mapping) and block.get("type") == "image":  # pyright: ignore[reportUnknownMemberType] -- block dicts of any kind
                tokens += IMAGE_TOKENS
            else:
                characters += _length(block)
    if not isinstance(content, list) and (calls := message.get("tool_calls")):
        characters += _length(calls)
    return tokens + characters // CHARACTERS_PER_TOKEN


async def request_budget(token_budget: int | None, provider: Any, default: int) -> int:
    """Return the tokens that the messages of a request may have.

    Args:
        token_budget: The budget of the caller, which overrides the others.
        provider: The provider, which may know the context window of the model.
        default: The budget if nothing is known.
    """
    if token_budget is not None:
        return token_budget
    window, output = await _limits(provider)
    if window is None:
        return default
    # The answer needs space too, but rarely all that a model can write.
    budget = window - (output or 0) // 2 - SAFETY_MARGIN_TOKENS
    return max(budget, window // 2)


async def _limits(provider: Any) -> tuple[int | None, int | None]:
    """Return the context window and the longest output in tokens, None if not known."""
    for name in ("get_model_info", "get_info"):
        method = getattr(provider, name, None)
        if not callable(method):
            continue
        info = method()
        if inspect.isawaitable(info):
            info = await info
        defaults = getattr(info, "defaults", None)
        source = cast("Any", defaults if isinstance(defaults, Mapping) else info)
        window = _positive(source, "context_window")
        if window is not None:
            return window, _positive(source, "max_output_tokens")
    return None, None


def _positive(source: Any, key: str) -> int | None:
    is_mapping = isinstance(source, Mapping)
    value = cast("Any", source).get(key) if is_mapping else getattr(source, key, None)
    return value if isinstance(value, int) and value > 0 else None


def _length(value: Any) -> int:
    """Return the length of a value as JSON; a long text is written in pieces, as it is only counted."""
    length = 0
    if isinstance(value, dict):
        block = cast("dict[str, Any]", value)
        for key, text in block.items():
            if isinstance(text, str) and len(text) > _PIECE_CHARS:
                block = {**block, key: ""}
                starts = range(0, len(text), _PIECE_CHARS)
                length += sum(_written(text[at : at + _PIECE_CHARS]) - 2 for at in starts)
        value = block
    return length + _written(value)


def _written(value: Any) -> int:
    try:
        return len(json.dumps(value, ensure_ascii=False, default=str))
    except RecursionError:
        raise ValueError("the content of a message is nested too deeply") from None
