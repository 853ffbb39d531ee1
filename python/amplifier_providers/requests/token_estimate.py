"""The token budget of a request, and the estimated tokens of a message."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, cast

from amplifier_core.event_loop import is_awaitable

from .model_window import limits_of, may_say_limits, messages_budget

logger = logging.getLogger(__name__)

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_600
"""Tokens of an image, whatever the length of its data."""
MESSAGE_OVERHEAD_TOKENS = 4
"""Tokens of a message without its content."""
_PIECE_CHARS = 1 << 16

_TEXT_BLOCK_CHARS = len('{"type": "text", "text": }')
_encode_text = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def estimate_tokens(message: Mapping[str, Any]) -> int:
    """Return the estimated tokens of a message."""
    content = message.get("content")
    characters, tokens = 0, MESSAGE_OVERHEAD_TOKENS
    if isinstance(content, list):
        calls: list[Any] = []
        for block in cast("list[dict[str, Any]]", content):
            kind: Any = block.get("type") if type(block) is dict else _find_kind(block)
            if kind == "image":
                tokens += IMAGE_TOKENS
            elif kind == "tool_call":
                calls.append(block)
            else:
                characters += _measure_length(block)
        if calls:
            # Together, but without the brackets around them, and what separates them.
            characters += _written_length(calls) - 2 * len(calls)
    else:
        if isinstance(content, str):
            characters += len(content)
        if given := message.get("tool_calls"):
            characters += _written_length(given)
    return tokens + characters // CHARACTERS_PER_TOKEN


async def request_budget(token_budget: int | None, provider: Any, default: int) -> int:
    """Return the tokens that the messages of a request may have.

    The first of these that is known: `token_budget`; `request_budget()` of the provider; what the
    context window of its model leaves, by its `get_model_info()` or the `defaults` of its
    `get_info()`; the default.

    Args:
        token_budget: The budget of the caller.
        provider: The provider that will get the request; may be None.
        default: The budget if nothing is known.
    """
    if token_budget is not None:
        return token_budget
    method = getattr(provider, "request_budget", None)
    if callable(method):
        try:
            stated: Any = method()
            if is_awaitable(stated):
                stated = await stated
        except Exception as error:  # noqa: BLE001 -- a provider of others may mean something else by it
            logger.warning("`request_budget` of the provider failed: %s", error)
        else:
            if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0:
                return stated
    for name in ("get_model_info", "get_info"):
        method = getattr(provider, name, None)
        if callable(method) and may_say_limits(method):
            info: Any = method()
            window, output = limits_of(await info if is_awaitable(info) else info)
            if window is not None:
                return messages_budget(window, output)
    return default


def _find_kind(block: Any) -> Any:
    return cast("Mapping[str, Any]", block).get("type") if isinstance(block, Mapping) else None


def _measure_length(block: Any) -> int:
    """Return the length of a block as JSON."""
    if not isinstance(block, dict):
        return _written_length(block)
    fields = cast("dict[str, Any]", block)
    if (
        len(fields) == 2
        and fields.get("type") == "text"
        and type(text := fields.get("text")) is str
    ):
        # Most answers: to write a text alone takes a fraction of the time.
        return _TEXT_BLOCK_CHARS + _text_length(text)
    length = 0
    for key, value in fields.items():
        if isinstance(value, str) and len(value) > _PIECE_CHARS:
            fields = {**fields, key: ""}
            length += _text_length(value) - 2
    return length + _written_length(fields)


def _text_length(text: str) -> int:
    """Return the length of a text as JSON; a long one is written in pieces, as it is only counted."""
    if len(text) <= _PIECE_CHARS:
        return len(_encode_text(text))
    starts = range(0, len(text), _PIECE_CHARS)
    return 2 + sum(len(_encode_text(text[at : at + _PIECE_CHARS])) - 2 for at in starts)


def _written_length(value: Any) -> int:
    try:
        return len(_encode(value))
    except RecursionError:
        raise ValueError("the content of a message is nested too deeply") from None
