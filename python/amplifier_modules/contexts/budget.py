"""The token budget of a request, and the estimated tokens of a message."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

from ..model_window import limits_of, may_say_limits, messages_budget

logger = logging.getLogger(__name__)

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_600
"""Tokens of an image, whatever the length of its data."""
MESSAGE_OVERHEAD_TOKENS = 4
"""Tokens of a message without its content."""
_PIECE_CHARS = 1 << 16

_TEXT_BLOCK_CHARS = len('{"type": "text", "text": }')
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def estimate_tokens(message: Mapping[str, Any]) -> int:
    """Return the estimated tokens of a message."""
    content = message.get("content")
    characters, tokens = 0, MESSAGE_OVERHEAD_TOKENS
    if isinstance(content, str):
        characters += len(content)
    elif isinstance(content, list):
        blocks = cast("list[Any]", content)
        written = [block for block in blocks if not _is_image(block)]
        tokens += IMAGE_TOKENS * (len(blocks) - len(written))
        characters += _length(written)
    if not isinstance(content, list) and (calls := message.get("tool_calls")):
        characters += _length([calls])
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
    stated = await _stated_budget(provider)
    if stated is not None:
        return stated
    for name in ("get_model_info", "get_info"):
        method = getattr(provider, name, None)
        if not (callable(method) and may_say_limits(method)):
            continue
        window, output = limits_of(await _answer(method))
        if window is not None:
            return messages_budget(window, output)
    return default


async def _stated_budget(provider: Any) -> int | None:
    """Return what the provider itself says; None if it does not say."""
    method = getattr(provider, "request_budget", None)
    if not callable(method):
        return None
    try:
        budget = await _answer(method)
    except Exception as error:  # noqa: BLE001 -- a provider of others may mean something else by it
        logger.warning("`request_budget` of the provider failed: %s", error)
        return None
    is_number = isinstance(budget, int) and not isinstance(budget, bool)
    return budget if is_number and budget > 0 else None


async def _answer(method: Callable[[], Any]) -> Any:
    answer = method()
    if answer is None or type(answer) is int:
        return answer
    return await answer if inspect.isawaitable(answer) else answer


def _is_image(block: Any) -> bool:
    # Of dicts first: the question about a mapping takes ten times as long.
    is_mapping = isinstance(block, dict) or isinstance(block, Mapping)  # noqa: SIM101
    return is_mapping and cast("Mapping[str, Any]", block).get("type") == "image"


def _length(values: list[Any]) -> int:
    """Return the length of values as JSON, one after the other.

    A long text is written in pieces, as it is only counted.
    """
    if len(values) == 1 and _is_plain_text(values[0]):
        # Most answers: to write a text alone takes a fraction of the time.
        return _TEXT_BLOCK_CHARS + _written(values[0]["text"])
    length = 0
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            continue
        for key, text in cast("dict[str, Any]", value).items():
            if isinstance(text, str) and len(text) > _PIECE_CHARS:
                values = [*values[:index], {**values[index], key: ""}, *values[index + 1 :]]
                starts = range(0, len(text), _PIECE_CHARS)
                length += sum(_written(text[at : at + _PIECE_CHARS]) - 2 for at in starts)
    # Without the brackets around them, and what separates them.
    return length + _written(values) - 2 * len(values) if values else 0


def _is_plain_text(block: Any) -> bool:
    """Whether a block is a text that is not long, and nothing else."""
    if not isinstance(block, dict):
        return False
    fields = cast("dict[str, Any]", block)
    text = fields.get("text")
    is_text = type(text) is str and len(text) <= _PIECE_CHARS
    return is_text and len(fields) == 2 and fields.get("type") == "text"


def _written(value: Any) -> int:
    try:
        return len(_encode(value))
    except RecursionError:
        raise ValueError("the content of a message is nested too deeply") from None
