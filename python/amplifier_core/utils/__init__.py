"""Small tools that modules share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .truncate import SENSITIVE_KEYS, redact_secrets, truncate_values

if TYPE_CHECKING:
    from .retry import RetryConfig, classify_error_message, retry_with_backoff

__all__ = [
    "SENSITIVE_KEYS",
    "RetryConfig",
    "classify_error_message",
    "redact_secrets",
    "retry_with_backoff",
    "truncate_values",
]


def __getattr__(name: str) -> Any:
    # Resolved at first use: a log that is cut short needs no event loop.
    if name in ("RetryConfig", "classify_error_message", "retry_with_backoff"):
        from . import retry

        value = getattr(retry, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
