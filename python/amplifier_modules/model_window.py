"""The context window of a model, and how much of it the messages of a request may fill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

SAFETY_MARGIN_TOKENS = 4_096
"""Tokens kept free, as estimates are inexact."""


def limits_of(info: Any) -> tuple[int | None, int | None]:
    """Return the context window and the longest output in tokens, None for what is not known.

    Args:
        info: A `ModelInfo`, or a `ProviderInfo`, which has them in its `defaults`.
    """
    for source in (info, getattr(info, "defaults", None)):
        window = _positive(source, "context_window")
        if window is not None:
            return window, _positive(source, "max_output_tokens")
    return None, None


def messages_budget(window: int, output: int | None, asked: int | None = None) -> int:
    """Return how many tokens the messages of a request may have.

    Args:
        window: The context window of the model.
        output: The longest output of the model; None if it is not known.
        asked: The longest output that the request asks for; None if it does not say.
    """
    # The answer needs space too, but rarely all that a model can write.
    answer = (output or 0) // 2 if asked is None else asked
    return max(window - answer - SAFETY_MARGIN_TOKENS, window // 2)


def _positive(source: Any, key: str) -> int | None:
    is_mapping = isinstance(source, Mapping)
    value = cast("Any", source).get(key) if is_mapping else getattr(source, key, None)
    return value if isinstance(value, int) and value > 0 else None
