"""Retries of failed calls to a provider, and the class of an error from its message."""

from __future__ import annotations

import asyncio as asyncio  # noqa: PLC0414 (callers patch its `sleep` here)
from collections.abc import Awaitable, Callable
from typing import TypeVar

from amplifier_core import world
from amplifier_core._retry_config import RetryConfig, compute_delay
from amplifier_core.error_messages import short_repr
from amplifier_core.llm_errors import (
    AccessDeniedError,
    AuthenticationError,
    ContentFilterError,
    ContextLengthError,
    InvalidRequestError,
    LLMError,
    NotFoundError,
    ProviderUnavailableError,
    RateLimitError,
)

__all__ = ["RetryConfig", "classify_error_message", "compute_delay", "retry_with_backoff"]

T = TypeVar("T")

_MAX_ASKED_SECONDS = 86_400.0
"""Longest wait in seconds that a server may ask for: a day."""

_BY_STATUS: dict[int, type[LLMError]] = {
    401: AuthenticationError,
    403: AccessDeniedError,
    404: NotFoundError,
    413: ContextLengthError,
    429: RateLimitError,
}

_BY_WORDS: tuple[tuple[type[LLMError], tuple[str, ...]], ...] = (
    (ContextLengthError, ("context length", "too many tokens", "maximum context")),
    (RateLimitError, ("rate limit", "too many requests")),
    (AuthenticationError, ("authentication", "api key", "unauthorized")),
    (NotFoundError, ("not found",)),
    (ContentFilterError, ("content filter", "safety", "blocked")),
)
"""Words of each error, lower-case; the first error that has one in the message counts."""


async def retry_with_backoff(
    operation: Callable[[], Awaitable[T]],
    config: RetryConfig | None = None,
    *,
    on_retry: Callable[[int, float, LLMError], Awaitable[None]] | None = None,
) -> T:
    """Call an operation until it succeeds or a retry cannot help.

    An error's `retry_after` is the least that is waited, unless it is negative or beyond a day.

    Args:
        operation: Called anew for each try.
        config: How often and with what waits; None for the defaults of `RetryConfig`.
        on_retry: Awaited before each wait with the number of the failed call from 1 on, the
            seconds that are waited, and the error.

    Raises:
        TypeError: `operation` or `on_retry` is not callable.
        LLMError: The last error of the operation, or one that is not retryable. Errors that are
            not `LLMError` are raised immediately.
    """
    if not callable(operation):
        raise TypeError(f"`operation` must be callable, found `{short_repr(operation)}`")
    if on_retry is not None and not callable(on_retry):
        raise TypeError(f"`on_retry` must be callable or None, found `{short_repr(on_retry)}`")
    settings = RetryConfig() if config is None else config
    attempt = 0
    while True:
        try:
            return await operation()
        except LLMError as error:
            if not error.retryable or attempt >= settings.max_retries:
                raise
            failure = error
        asked = failure.retry_after
        if asked is not None and not 0 <= asked <= _MAX_ASKED_SECONDS:
            asked = None
        delay = compute_delay(settings, attempt, asked, failure.delay_multiplier)
        attempt += 1
        if on_retry is not None:
            await on_retry(attempt, delay, failure)
        del failure  # its traceback would keep everything alive through the wait
        await world.sleep(delay)


def classify_error_message(
    message: str, *, status_code: int | None = None, provider: str | None = None
) -> type[LLMError]:
    """Return the class of error for a failed call.

    Args:
        message: The provider's message; read where the status says too little.
        status_code: HTTP status of the answer, if there was one.
        provider: Name of the provider; no class depends on it.

    Raises:
        TypeError: The message is not a string.
    """
    del provider
    if not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"`message` must be a `str`, found `{short_repr(message)}`")
    if status_code is not None:
        if status_code in _BY_STATUS:
            return _BY_STATUS[status_code]
        if status_code >= 500:
            return ProviderUnavailableError
    lower = message.lower()
    for error, words in _BY_WORDS:
        if any(word in lower for word in words):
            return error
    return InvalidRequestError if status_code in (400, 422) else LLMError
