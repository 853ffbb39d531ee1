"""Errors of calls to language models.

    LLMError
    ├── RateLimitError               retryable
    │   └── QuotaExceededError
    ├── AuthenticationError
    │   └── AccessDeniedError
    ├── ContextLengthError
    ├── ContentFilterError
    ├── InvalidRequestError
    ├── ProviderUnavailableError     retryable
    │   └── NetworkError             retryable
    ├── LLMTimeoutError              retryable
    ├── NotFoundError
    ├── StreamError                  retryable
    ├── AbortError
    ├── InvalidToolCallError
    └── ConfigurationError

Providers raise only these, so that retries and fall-backs need not know any vendor.
"""

from __future__ import annotations

from .error_messages import short_repr


class LLMError(Exception):
    """A failed call to a language model.

    Args:
        message: What happened; `str(error)`.
        provider: Name of the provider that raised it.
        model: Name of the model that was asked.
        status_code: HTTP status of the answer, if there was one.
        retryable: Whether the same call may succeed later; None takes the default of the class.
        retry_after: Seconds the server asked to wait before the next call.
        delay_multiplier: Factor on the delay that `compute_delay()` computes for the next
            attempt, applied after the max_delay cap, so that a lasting overload may wait longer
            than an ordinary retry.
        hint: What the user can do about it, where the provider knows; `message` need not say it.
    """

    retryable: bool = False
    hint: str | None = None
    """What the user can do about it."""
    body: str | None = None
    """The beginning of what the server answered, without secrets; None if it did not answer."""
    provider: str | None
    model: str | None
    status_code: int | None
    retry_after: float | None
    delay_multiplier: float

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        model: str | None = None,
        status_code: int | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        delay_multiplier: float = 1.0,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.status_code = status_code
        self.retryable = type(self).retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.delay_multiplier = delay_multiplier
        if hint is not None:
            self.hint = hint

    def __repr__(self) -> str:
        """Write the message and whatever is out of the ordinary."""
        parts = [repr(str(self))]
        for name in ("provider", "model", "status_code"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name}={short_repr(value)}")
        if self.retryable:
            parts.append(f"retryable={self.retryable!r}")
        if self.retry_after is not None:
            parts.append(f"retry_after={self.retry_after!r}")
        if self.delay_multiplier != 1.0:
            parts.append(f"delay_multiplier={self.delay_multiplier!r}")
        if self.hint is not None:
            parts.append(f"hint={short_repr(self.hint)}")
        return f"{type(self).__name__}({', '.join(parts)})"


class RateLimitError(LLMError):
    """Too many calls or tokens in a span of time (HTTP 429)."""

    retryable = True


class QuotaExceededError(RateLimitError):
    """The account's quota is used up; waiting does not help."""

    retryable = False


class AuthenticationError(LLMError):
    """The key is missing or wrong (HTTP 401)."""


class AccessDeniedError(AuthenticationError):
    """The key is valid but lacks the permission (HTTP 403)."""


class ContextLengthError(LLMError):
    """The request is longer than the model's context (HTTP 413, or 400 with such a message)."""


class ContentFilterError(LLMError):
    """The provider's content filter refused the request or its answer."""


class InvalidRequestError(LLMError):
    """The provider rejected the request as invalid (HTTP 400 or 422)."""


class ProviderUnavailableError(LLMError):
    """The provider is down or overloaded (HTTP 5xx)."""

    retryable = True


class NetworkError(ProviderUnavailableError):
    """The provider could not be reached: refused or lost connection, failed name look-up."""


class LLMTimeoutError(LLMError):
    """The provider timed out."""

    retryable = True


class NotFoundError(LLMError):
    """The model or endpoint does not exist (HTTP 404)."""


class StreamError(LLMError):
    """A stream ended early or was invalid after it had begun."""

    retryable = True


class AbortError(LLMError):
    """The caller ended the call."""


class InvalidToolCallError(LLMError):
    """The model asked for a tool call that cannot be run.

    Args:
        message: What is wrong with the call.
        tool_name: Tool that the model named.
        raw_arguments: The arguments as the model wrote them.
        provider: Name of the provider that raised it.
        model: Name of the model that was asked.
        status_code: HTTP status of the answer, if there was one.
        retryable: Whether the same call may succeed later.
        retry_after: Seconds the server asked to wait before the next call.
        hint: What the user can do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        tool_name: str | None = None,
        raw_arguments: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        status_code: int | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(
            message,
            provider=provider,
            model=model,
            status_code=status_code,
            retryable=retryable,
            retry_after=retry_after,
            hint=hint,
        )
        self.tool_name = tool_name
        self.raw_arguments = raw_arguments


class ConfigurationError(LLMError):
    """The provider is set up wrongly: a setting is missing or contradicts another."""
