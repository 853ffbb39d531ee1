"""Retries, circuit breaker and rate limit for the calls of a provider to its API."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import Field

from amplifier_core import world
from amplifier_core.events import PROVIDER_RETRY, PROVIDER_THROTTLE
from amplifier_core.llm_errors import (
    AbortError,
    LLMError,
    LLMTimeoutError,
    NetworkError,
    ProviderUnavailableError,
    RateLimitError,
    StreamError,
)
from amplifier_providers.running.call_purpose import with_purpose
from amplifier_providers.settings import RateSettings, Settings

from .limits.endpoint import Endpoint

if TYPE_CHECKING:
    from amplifier_guard import CircuitBreaker, ErrorHandler, RateLimited, RateLimiter, Retry

T = TypeVar("T")

logger = logging.getLogger(__name__)

_OVERLOADED_STATUS = 529
_CHECK_INTERVAL_SECONDS = 0.1
"""Seconds between two checks for cancellation during a wait."""
_MAX_COUNT = 1_000_000
"""Upper bound of the settings that are counts."""
_WORDS: tuple[tuple[type[LLMError], str], ...] = (
    (NetworkError, "connection failed"),
    (LLMTimeoutError, "timed out"),
    (StreamError, "stream interrupted"),
    (RateLimitError, "too many requests"),
    (ProviderUnavailableError, "server error"),
)


class CallRate(RateSettings):
    """The calls of a provider."""

    limit: Annotated[int, Field(ge=1, le=_MAX_COUNT)]
    """Calls in each period, retries included; further calls wait."""
    period: Annotated[float, Field(ge=0.001, le=31_536_000)] = 60.0
    burst: Annotated[int | None, Field(ge=1, le=_MAX_COUNT)] = None


class RetrySettings(Settings):
    """How often and how long a provider retries, and when its circuit opens."""

    max_retries: int = Field(default=5, ge=0, le=_MAX_COUNT)
    """Calls after the first one, at most; 0 never retries."""
    min_retry_delay: float = Field(default=1.0, ge=0)
    """Seconds before the first retry; each further wait is twice as long."""
    max_retry_delay: float = Field(default=60.0, ge=0)
    """Seconds that a wait may last; an overload or `retry-after` may make it longer."""
    retry_jitter: bool = True
    """Whether waits are randomly up to a tenth longer or shorter, never below `retry-after`."""
    overloaded_delay_multiplier: float = Field(default=10.0, ge=1)
    """Factor of a wait after status 529: an overload lasts longer than a lost connection."""
    retry_shown: bool = False
    """Whether an answer is asked for again that failed after a part of it was shown; what was shown
    is then taken back, by a `content_block:end` with `dropped`."""
    retry_budget: float = Field(default=600.0, ge=0)
    """Seconds after the first call beyond which no retry begins."""
    breaker_failures: int = Field(default=10, ge=0, le=_MAX_COUNT)
    """Failed calls in a row after which the circuit opens; 0 never opens it."""
    breaker_recovery: float = Field(default=60.0, ge=0.001)
    """Seconds for which an open circuit lets no call through."""
    rate: CallRate | None = None
    """The rate limit of calls; None for no limit."""


@dataclass(frozen=True)
class _Judges:
    """What decides about calls; made at the first call, as it needs the extension."""

    handler: ErrorHandler
    breaker: CircuitBreaker | None
    limiter: RateLimiter | None


class Retries:
    """The calls of one provider, with retries, a circuit breaker and a rate limit.

    Each wait emits an event: `provider:retry` after a failure, `provider:throttle` at the rate
    limit.

    Args:
        provider: The provider's name.
        settings: How often and how long.
        hooks: The registry that gets the events; None for no events.
        cancellation: The cancellation token of the session, which ends a wait; None for none.
        clock: Returns the current time in seconds.
        sleep: Waits for a number of seconds.
    """

    def __init__(
        self,
        provider: str,
        settings: RetrySettings,
        hooks: Any = None,
        cancellation: Any = None,
        clock: Callable[[], float] = world.monotonic,
        sleep: Callable[[float], Awaitable[object]] = world.sleep,
    ) -> None:
        self._provider = provider
        self._settings = settings
        self._hooks = hooks
        self._cancellation = cancellation
        self._clock = clock
        self._sleep = sleep
        self._judges: _Judges | None = None
        self.endpoint: Endpoint | None = None
        """Whose circuit breaker counts, which is that of its other mounts; None for one of its own."""

    async def call(
        self,
        operation: Callable[[], Awaitable[T]],
        model: str | None,
        *,
        may_repeat: Callable[[], bool] = lambda: True,
        before_retry: Callable[[], Awaitable[object]] | None = None,
        is_part: bool = False,
    ) -> T:
        """Call until there is a result or an error that is not retried.

        Args:
            operation: Sends one request.
            model: The model of the request, if there is one.
            may_repeat: Called after a failure; False forbids a retry, as a part of the answer was
                shown.
            before_retry: Awaited before the wait for a retry.
            is_part: Whether this is a request within a call, which breaker and rate have let through.

        Raises:
            AbortError: The session was cancelled during a wait.
            ProviderUnavailableError: The circuit is open; `retry_after` says for how long.
            RateLimitError: The rate limit is reached for longer than the budget.
            LLMError: What the last attempt raised.
        """
        # Imported here: without the extension a provider is mounted, but calls nothing.
        # Of their files: to look for a name of a package takes a while.
        from amplifier_guard.breaker import CircuitOpen
        from amplifier_guard.guarded_call import guarded_call
        from amplifier_guard.rate import RateLimited

        judges = self._judged_by()
        attempts = _Attempts(self, operation, model, before_retry)
        try:
            return await guarded_call(
                attempts.make_one,
                f"call of {self._provider}",
                handler=judges.handler,
                breaker=None if is_part else judges.breaker,
                limiter=None if is_part else judges.limiter,
                provider=self._provider,
                may_repeat=may_repeat,
                on_retry=attempts.report_retry,
                on_limit=attempts.report_limit,
                clock=self._clock,
                sleep=self.wait,
            )
        except CircuitOpen as refusal:
            reason = f"circuit open for `{self._provider}` after repeated failures"
            raise self._make_later_error(
                ProviderUnavailableError, reason, refusal.retry_after, model
            ) from refusal
        except RateLimited as refusal:
            reason = f"rate limit of `{self._provider}` reached"
            raise self._make_later_error(
                RateLimitError, reason, refusal.retry_after, model
            ) from refusal

    async def emit_limit(self, model: str | None, seconds: float) -> None:
        """Emit that a call waits for the rate limit."""
        about = {"provider": self._provider, "model": model}
        payload = {**about, "delay": seconds, "reason": "rate limit reached"}
        await self._emit(PROVIDER_THROTTLE, payload)

    async def emit_retry(self, retry: Retry, error: Exception, model: str | None) -> None:
        """Emit that a call is repeated after a wait."""
        await self._emit(PROVIDER_RETRY, self._retry_payload(retry, error, model))

    def slow_down(self, error: LLMError) -> None:
        """Make the wait after an overload longer."""
        if error.status_code == _OVERLOADED_STATUS:
            error.delay_multiplier = self._settings.overloaded_delay_multiplier

    async def _emit(self, event: str, data: dict[str, Any]) -> None:
        if self._hooks is not None:
            await self._hooks.emit(event, with_purpose(event, data))

    def _judged_by(self) -> _Judges:
        if self._judges is None:
            from amplifier_guard.error_handler import ErrorHandler
            from amplifier_guard.rate import RateLimiter

            settings = self._settings
            limiter = None
            if settings.rate is not None:
                limiter = RateLimiter(provider=settings.rate.rate(), clock=self._clock)
            handler = ErrorHandler(
                max_retries=settings.max_retries,
                initial_delay=settings.min_retry_delay,
                max_delay=settings.max_retry_delay,
                jitter=0.1 if settings.retry_jitter else 0.0,
                budget=settings.retry_budget,
                clock=self._clock,
            )
            breaker = None
            if settings.breaker_failures:
                endpoint = self.endpoint or Endpoint(self._provider)
                breaker = endpoint.find_breaker(
                    settings.breaker_failures, settings.breaker_recovery, self._clock
                )
            self._judges = _Judges(handler, breaker, limiter)
        return self._judges

    async def wait(self, seconds: float) -> None:
        """Wait, unless the session is cancelled.

        Raises:
            AbortError: It was.
        """
        end = self._clock() + seconds
        # To the nanosecond: the difference of two floats may leave less than any clock shows.
        while (left := round(end - self._clock(), 9)) > 0:
            if getattr(self._cancellation, "is_cancelled", False) is True:
                message = f"cancelled while waiting to call `{self._provider}`"
                raise AbortError(message, provider=self._provider)
            await self._sleep(min(left, _CHECK_INTERVAL_SECONDS))

    def log(self, retry: Retry, error: Exception) -> None:
        """Say once in a call that the program waits, and why: nothing else may show the events."""
        # The text of other errors is the server's, which may quote what it was sent.
        why = str(error) if isinstance(error, NetworkError) else _describe_cause(error)
        logger.log(
            logging.WARNING if retry.attempt == 1 else logging.DEBUG,
            "call of `%s` failed: %s; retry %d of %d in %.1f s",
            self._provider,
            why,
            retry.attempt,
            self._settings.max_retries,
            retry.delay,
        )

    def _retry_payload(self, retry: Retry, error: Exception, model: str | None) -> dict[str, Any]:
        return {
            "provider": self._provider,
            "model": model,
            "attempt": retry.attempt,
            "max_retries": self._settings.max_retries,
            "delay": retry.delay,
            "reason": _describe_cause(error),
            "error_type": type(error).__name__,
            "error_message": str(error),
            "status_code": getattr(error, "status_code", None),
            "retry_after": getattr(error, "retry_after", None),
        }

    def _make_later_error(
        self, kind: type[LLMError], reason: str, seconds: float, model: str | None
    ) -> LLMError:
        hint = f"retry in {math.ceil(seconds)} s"
        return kind(
            f"{reason}; {hint}",
            provider=self._provider,
            model=model,
            retry_after=seconds,
            hint=hint,
        )


class _Attempts(Generic[T]):
    """The attempts of one call. As functions within `call` they would take four times the memory."""

    __slots__ = ("_before_retry", "_model", "_operation", "_retries")

    def __init__(
        self,
        retries: Retries,
        operation: Callable[[], Awaitable[T]],
        model: str | None,
        before_retry: Callable[[], Awaitable[object]] | None,
    ) -> None:
        self._retries = retries
        self._operation = operation
        self._model = model
        self._before_retry = before_retry

    async def make_one(self) -> T:
        try:
            return await self._operation()
        except LLMError as error:
            self._retries.slow_down(error)
            raise

    async def report_retry(self, retry: Retry, error: Exception) -> None:
        self._retries.log(retry, error)
        if self._before_retry is not None:
            await self._before_retry()
        await self._retries.emit_retry(retry, error, self._model)

    async def report_limit(self, refusal: RateLimited) -> None:
        await self._retries.emit_limit(self._model, refusal.retry_after)


def _describe_cause(error: Exception) -> str:
    """Return the cause of a failed call in a few words."""
    status: int | None = getattr(error, "status_code", None)
    found = (words for kind, words in _WORDS if isinstance(error, kind))
    words = "overloaded" if status == _OVERLOADED_STATUS else next(found, type(error).__name__)
    words = getattr(error, "retry_reason", words)
    return words if status is None else f"{words} ({status})"
