"""A call is made within limits and again where that has a point; no test waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from amplifier_core.llm_errors import AuthenticationError, LLMError, RateLimitError
from amplifier_guard import (
    CircuitBreaker,
    CircuitOpen,
    ErrorContext,
    ErrorHandler,
    Rate,
    RateLimited,
    RateLimiter,
    Retry,
    guarded_call,
)


class World:
    """A time that passes while someone waits, and an operation that fails as told."""

    def __init__(self, *failures: BaseException) -> None:
        self.now = 0
        self.failures = list(failures)
        self.waits: list[float] = []
        self.calls = 0

    def clock(self) -> float:
        return self.now / 1e9

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.waits.append(seconds)
        self.now += round(seconds * 10**9)

    async def operation(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "done"

    def handler(self, **settings: Any) -> ErrorHandler:
        return ErrorHandler(jitter=0.0, clock=self.clock, **settings)

    async def call(self, context: ErrorContext | str = "complete", **settings: Any) -> str:
        settings.setdefault("handler", self.handler())
        return await guarded_call(
            self.operation, context, clock=self.clock, sleep=self.sleep, **settings
        )


def slow(**details: Any) -> RateLimitError:
    return RateLimitError("slow down", **details)


async def test_a_call_that_succeeds_is_made_once():
    world = World()

    assert await world.call() == "done"
    assert (world.calls, world.waits) == (1, [])


async def test_what_may_pass_is_tried_again_after_the_waits_of_the_handler():
    world = World(slow(), TimeoutError(), slow(retry_after=9))
    context = ErrorContext(operation="complete")

    assert await world.call(context) == "done"
    assert world.waits == [0.5, 1.0, 9.0]
    assert context.retry_count == 3
    assert [past.error for past in context.history] == ["rate_limit", "timeout", "rate_limit"]


# Holds: failure-9
async def test_the_last_error_itself_comes_out_with_the_context_as_a_note():
    errors = [slow() for _ in range(4)]
    world = World(*errors)

    with pytest.raises(RateLimitError) as caught:
        await world.call()
    assert caught.value is errors[-1]
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    past = ", after `complete` (rate_limit)"
    note = f"operation `complete`, retry 3{past}: given up (retries_exhausted)"
    assert caught.value.__notes__ == [note]


async def test_what_would_fail_again_comes_out_at_once():
    world = World(AuthenticationError("no key"))

    with pytest.raises(AuthenticationError) as caught:
        await world.call()
    assert (world.calls, world.waits) == (1, [])
    assert caught.value.__notes__ == ["operation `complete`: given up (not_retryable)"]


async def test_no_secret_of_the_context_is_in_the_note():
    context = ErrorContext.builder("complete").metadata("api_key", "hunter2").build()

    with pytest.raises(KeyError) as caught:
        await World(KeyError()).call(context)
    assert caught.value.__notes__ == [
        "operation `complete`, api_key=[REDACTED:key]: given up (not_retryable)"
    ]


async def test_no_retry_begins_beyond_the_budget():
    world = World(*(slow() for _ in range(9)))

    with pytest.raises(RateLimitError):
        await world.call(handler=world.handler(max_retries=9, budget=4))
    assert world.waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_what_is_no_failure_passes_at_once(end: type[BaseException]):
    world = World(end())

    with pytest.raises(end) as caught:
        await world.call()
    assert not hasattr(caught.value, "__notes__")
    assert world.calls == 1


async def test_a_cancelled_call_is_not_tried_again_and_frees_the_trial():
    world = World(*(slow() for _ in range(5)))
    breaker = CircuitBreaker(clock=world.clock)
    with pytest.raises(RateLimitError):
        await world.call(handler=world.handler(max_retries=9), breaker=breaker)
    world.now += 60 * 10**9
    calls = 0

    async def hang() -> None:
        nonlocal calls
        calls += 1
        scope.cancel()
        await anyio.sleep_forever()

    with anyio.CancelScope() as scope:
        await guarded_call(hang, "x", handler=world.handler(), breaker=breaker, clock=world.clock)
    assert scope.cancelled_caught
    assert calls == 1
    assert await world.call(breaker=breaker) == "done"


async def test_a_cancelled_wait_ends_the_call():
    async def sleep(seconds: float) -> None:
        scope.cancel()
        await anyio.sleep(seconds)

    world = World(slow())
    with anyio.CancelScope() as scope:
        await guarded_call(world.operation, "x", handler=world.handler(), sleep=sleep)
    assert (scope.cancelled_caught, world.calls) == (True, 1)


async def test_an_open_circuit_ends_the_retries_with_the_error_itself_and_without_a_wait():
    errors = [slow() for _ in range(6)]
    world = World(*errors)
    breaker = CircuitBreaker(failures=2, clock=world.clock)

    with pytest.raises(RateLimitError) as caught:
        await world.call(breaker=breaker)
    assert caught.value is errors[1]
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert world.waits == [0.5]
    assert caught.value.__notes__[0].endswith(
        ": given up (circuit open after repeated failures; retry in 60 s)"
    )
    with pytest.raises(CircuitOpen):
        await world.call(breaker=breaker)
    assert world.calls == 2


async def test_a_wait_longer_than_the_circuit_stays_open_ends_in_the_trial():
    world = World(slow(), slow(retry_after=60))
    breaker = CircuitBreaker(failures=2, clock=world.clock)

    assert await world.call(breaker=breaker) == "done"
    assert breaker.state == "closed"


async def test_an_error_that_says_nothing_of_the_service_does_not_count():
    breaker = CircuitBreaker(failures=1)
    with pytest.raises(AuthenticationError):
        await World(AuthenticationError("no key")).call(breaker=breaker)

    assert breaker.state == "closed"


async def test_each_call_waits_until_the_limiter_allows_it():
    world = World(slow())
    limiter = RateLimiter(provider=Rate(1, 10.0), clock=world.clock)

    assert await world.call(limiter=limiter, provider="p") == "done"
    assert await world.call(limiter=limiter, provider="p") == "done"
    assert world.waits == [0.5, 9.5, 10.0]


async def test_before_each_wait_for_the_limiter_somebody_is_told():
    world = World()
    limiter = RateLimiter(provider=Rate(1, 10.0), clock=world.clock)
    told: list[tuple[float, int]] = []

    async def tell(refusal: RateLimited) -> None:
        told.append((refusal.retry_after, world.calls))

    for _ in range(2):
        await world.call(limiter=limiter, provider="p", on_limit=tell)
    assert told == [(10.0, 1)]
    assert world.waits == [10.0]


async def test_a_wait_for_the_limiter_beyond_the_budget_is_not_begun():
    world = World(slow())
    limiter = RateLimiter(user=Rate(1, 10.0), clock=world.clock)
    settings = {"handler": world.handler(budget=5), "limiter": limiter, "user": "ada"}

    with pytest.raises(RateLimitError) as failed:
        await world.call(**settings)
    with pytest.raises(RateLimited) as refused:
        await world.call(**settings)
    assert failed.value.__notes__[0].endswith("rate limit of this user reached; retry in 9.5 s)")
    assert refused.value.retry_after == 9.5
    assert (world.calls, world.waits) == (1, [0.5])


async def test_a_clock_that_jumps_back_is_no_failure():
    world = World(slow(), slow())
    world.now = 10**12

    async def sleep(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        world.now = 0

    operation: Callable[[], Any] = world.operation
    handler = world.handler(budget=10)
    assert (
        await guarded_call(operation, "x", handler=handler, clock=world.clock, sleep=sleep)
        == "done"
    )


async def test_before_each_wait_somebody_is_told():
    world = World(slow(), slow(retry_after=9), KeyError("x"))
    told: list[Any] = []

    async def tell(retry: Retry, error: Exception) -> None:
        told.append((retry, error, list(world.waits)))

    errors = list(world.failures)
    with pytest.raises(KeyError):
        await world.call(on_retry=tell)
    assert told == [(Retry(0.5, 1), errors[0], []), (Retry(9.0, 2), errors[1], [0.5])]


async def test_what_cannot_be_repeated_is_not_and_counts_for_the_breaker():
    world = World(slow())
    breaker = CircuitBreaker(failures=1, clock=world.clock)

    with pytest.raises(RateLimitError) as caught:
        await world.call(may_repeat=lambda: False, breaker=breaker)
    assert (world.calls, world.waits, breaker.state) == (1, [], "open")
    assert caught.value.__notes__ == ["operation `complete`: given up (it cannot be repeated)"]


def test_it_is_the_same_under_trio():
    world = World(slow(), LLMError("busy", status_code=529))

    assert anyio.run(world.call, backend="trio") == "done"
    assert world.waits == [0.5, 1.0]
