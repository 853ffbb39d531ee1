"""The context window of a model, and how much of it the messages of a request may fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from amplifier_core.models import ProviderInfo

SAFETY_MARGIN_TOKENS = 4_096
"""Tokens kept free, as estimates are inexact."""


_SILENT: set[object] = set()

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def says_no_limits(function: FunctionT) -> FunctionT:
    """Mark a method whose answer never has limits, so that nobody has to ask: `@says_no_limits`."""
    _SILENT.add(function)
    return function


def may_say_limits(method: Any) -> bool:
    """Whether the answer of a method may have limits."""
    return getattr(method, "__func__", None) not in _SILENT


def limits_of(info: Any) -> tuple[int | None, int | None]:
    """Return the context window and the longest output in tokens, None for what is not known.

    Args:
        info: A `ModelInfo`, or a `ProviderInfo`, which has them in its `defaults`.
    """
    if info is None:
        return None, None
    # A `ProviderInfo` has them nowhere else, and takes long to say that it lacks a field.
    is_plain = type(info) is ProviderInfo
    for source in (None if is_plain else info, getattr(info, "defaults", None)):
        window = _read_positive(source, "context_window")
        if window is not None:
            return window, _read_positive(source, "max_output_tokens")
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


def _read_positive(source: Any, key: str) -> int | None:
    if source is None:
        return None
    if isinstance(source, dict | Mapping):
        value = cast("Mapping[str, Any]", source).get(key)
    else:
        value = getattr(source, key, None)
    return value if isinstance(value, int) and value > 0 else None
