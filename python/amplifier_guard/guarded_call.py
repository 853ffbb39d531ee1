"""Calls with retries, a rate limit and a circuit breaker, under asyncio and trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from amplifier_core import world
from amplifier_core._engine import error_kinds
from amplifier_guard._clock import Clock
from amplifier_guard.breaker import CircuitBreaker, CircuitOpen, Permit
from amplifier_guard.error_context import ErrorContext
from amplifier_guard.error_handler import ErrorHandler, GiveUp, Retry
from amplifier_guard.error_kind import error_kind
from amplifier_guard.rate import RateLimited, RateLimiter

T = TypeVar("T")

_PASSING = {kind for kind, is_retryable in error_kinds() if is_retryable}


async def guarded_call(
    operation: Callable[[], Awaitable[T]],
    context: ErrorContext | str,
    *,
    handler: ErrorHandler,
    breaker: CircuitBreaker | None = None,
    limiter: RateLimiter | None = None,
    user: str | None = None,
    tool: str | None = None,
    provider: str | None = None,
    may_repeat: Callable[[], bool] = lambda: True,
    on_retry: Callable[[Retry, Exception], Awaitable[object]] | None = None,
    on_limit: Callable[[RateLimited], Awaitable[object]] | None = None,
    clock: Clock = world.monotonic,
    sleep: Callable[[float], Awaitable[object]] = world.sleep,
) -> T:
    """Call an operation until it succeeds or a retry is useless.

    Each call first waits until the limiter allows it, within the handler's budget. Temporary failures
    count for the breaker; others say nothing about the service. The operation's last error is raised
    itself, with the context and the reason as a note. What is not an `Exception`, such as a
    cancellation, is raised at once.

    Args:
        operation: Called again for each attempt.
        context: What is being done, or its name; retries are recorded in it.
        handler: Decides on retries.
        breaker: Stops the calls after repeated failures.
        limiter: Limits the calls of `user`, `tool` and `provider`.
        user: Who calls.
        tool: The tool that is called.
        provider: The provider that is called.
        may_repeat: Called after a failure: False if the call already had an effect, such as a
            part of an answer that was shown. Then it is not retried.
        on_retry: Awaited before each wait after a failure.
        on_limit: Awaited before each wait for the limiter.
        clock: Returns the current time in seconds.
        sleep: Waits some seconds.

    Raises:
        CircuitOpen: The first call was refused.
        RateLimited: The first call would have started beyond the budget.
    """
    begun = clock()

    def elapsed_seconds() -> float:
        return max(clock() - begun, 0.0)

    async def wait_for_permit() -> Permit | None:
        """Wait for the limiter, then ask the breaker."""
        while limiter is not None:
            try:
                limiter.take(user=user, tool=tool, provider=provider)
                break
            except RateLimited as refusal:
                wait = refusal.retry_after
                if handler.budget is not None and elapsed_seconds() + wait > handler.budget:
                    raise
                refused = refusal
            if on_limit is not None:
                await on_limit(refused)
            await sleep(wait)
        return None if breaker is None else breaker.admit()

    permit = await wait_for_permit()
    while True:
        try:
            result = await operation()
        except Exception as error:
            if isinstance(context, str):
                context = ErrorContext.builder(context).build()  # late: most calls succeed
            kind = error_kind(error)
            if breaker is not None and permit is not None:
                if kind in _PASSING:
                    breaker.failed(permit)
                else:
                    breaker.abandoned(permit)
            decision = handler.handle(error, context, elapsed=elapsed_seconds())
            if isinstance(decision, GiveUp):
                error.add_note(f"{context}: given up ({decision.reason})")
                raise
            if not may_repeat():
                error.add_note(f"{context}: given up (it cannot be repeated)")
                raise
            refused: Exception | None = None
            try:
                if breaker is not None and (wait := breaker.wait()) > decision.delay:
                    raise CircuitOpen(wait)
                if on_retry is not None:
                    await on_retry(decision, error)
                await sleep(decision.delay)
                permit = await wait_for_permit()
            except (CircuitOpen, RateLimited) as refusal:
                refused = refusal
            if refused is not None:
                error.add_note(f"{context}: given up ({refused})")
                raise
            context.record_retry(kind)
        except BaseException:
            if breaker is not None and permit is not None:
                breaker.abandoned(permit)
            raise
        else:
            if breaker is not None and permit is not None:
                breaker.succeeded(permit)
            return result
