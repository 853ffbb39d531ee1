"""The category of a failure, derived from its message."""

from __future__ import annotations

from ..error_messages import short_repr

_CATEGORIES = {
    "context_length": (
        "context length",
        "too many tokens",
        "maximum context",
        "token limit",
        "too long",
    ),
    "rate_limit": ("rate limit", "rate_limit", "too many requests", "429"),
    "timeout": ("timeout", "timed out"),
    "authentication": ("authentication", "api key", "unauthorized", "401"),
    "content_filter": ("content filter", "safety", "blocked"),
    "not_found": ("not found", "404"),
    "provider_unavailable": ("overloaded", "503", "502", "unavailable"),
}
"""Words of each category, lower-case; the first category that has one in the message counts."""


def classify_error_message(message: str) -> str:
    """Return the category of a provider's error message, `unknown` if no word matches."""
    if not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"`message` must be a `str`, found `{short_repr(message)}`")
    lower = message.lower()
    for category, words in _CATEGORIES.items():
        if any(word in lower for word in words):
            return category
    return "unknown"
