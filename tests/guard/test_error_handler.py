"""What is tried again, how long it is waited for, and what is counted."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from typing import Any, get_args
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import llm_errors, world
from amplifier_core._engine import error_kinds
from amplifier_core.utils.retry import RetryConfig, compute_delay
from amplifier_guard import (
    ErrorContext,
    ErrorHandler,
    ErrorKind,
    GiveUp,
    PathDenied,
    Retry,
    error_kind,
)

DAY = 86_400.0


def steady(**settings: Any) -> ErrorHandler:
    return ErrorHandler(**{"jitter": 0.0, "clock": lambda: 0, **settings})


def after(retries: int) -> ErrorContext:
    return ErrorContext(operation="x", retry_count=retries)


def slow(**details: Any) -> llm_errors.RateLimitError:
    return llm_errors.RateLimitError("slow down", **details)


# Holds: failure-1
@given(
    attempt=st.integers(0, 2**32 - 2),
    chance=st.floats(0, 1, exclude_max=True),
    asked=st.none() | st.floats(-DAY, DAY),
    multiplier=st.floats(-1, 10) | st.just(math.nan) | st.just(math.inf),
    settings=st.tuples(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1000)),
)
def test_the_handler_waits_exactly_as_long_as_the_kernel(
    attempt: int,
    chance: float,
    asked: float | None,
    multiplier: float,
    settings: tuple[float, float, float],
):
    initial, factor, longest = settings
    handler = ErrorHandler(
        max_retries=2**32 - 1,
        initial_delay=initial,
        backoff_factor=factor,
        max_delay=longest,
        jitter=0.5,
        random=lambda: chance,
    )
    config = RetryConfig(0, initial, longest, factor, True)
    with mock.patch.object(world, "random", return_value=chance):
        kernels = compute_delay(config, attempt, asked, multiplier)

    decision = handler.handle(slow(retry_after=asked, delay_multiplier=multiplier), after(attempt))
    assert decision == Retry(kernels, attempt + 1)


def test_waits_grow_until_the_retries_are_exhausted():
    handler = steady()

    decisions = [handler.handle(slow(), after(retries)) for retries in range(4)]
    assert decisions == [Retry(0.5, 1), Retry(1.0, 2), Retry(2.0, 3), GiveUp("retries_exhausted")]


@pytest.mark.parametrize(
    ("asked", "delay"),
    [
        (7, 7.0),
        ("7.5", 7.5),
        (DAY, DAY),
        (0.25, 0.5),
        (-7, 0.5),
        (DAY + 1, 0.5),
        (math.nan, 0.5),
        (math.inf, 0.5),
        (10**400, 0.5),
        ("soon", 0.5),
        ("-7", 0.5),
        ("\ud800", 0.5),
        ([7], 0.5),
    ],
)
def test_what_a_server_asks_to_wait_holds_where_it_makes_sense(asked: Any, delay: float):
    assert steady().handle(slow(retry_after=asked), after(0)) == Retry(delay, 1)


def test_no_wait_is_longer_than_a_day():
    error = slow(delay_multiplier=1e300)

    assert steady().handle(error, after(0)) == Retry(DAY, 1)


def test_chance_spreads_a_wait_by_its_share_and_not_beyond_what_the_server_asks():
    handler = ErrorHandler(jitter=0.5, random=lambda: 0.0)

    assert handler.handle(slow(), after(0)) == Retry(0.25, 1)
    assert handler.handle(slow(retry_after=0.4), after(0)) == Retry(0.4, 1)


def test_no_retry_begins_beyond_the_budget():
    handler = steady(budget=10)

    assert handler.handle(slow(), after(0), elapsed=9.5) == Retry(0.5, 1)
    assert handler.handle(slow(), after(0), elapsed=9.6) == GiveUp("budget_spent")
    assert handler.handle(slow(retry_after=11), after(0)) == GiveUp("budget_spent")


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"initial_delay": -1.0}, ValueError, "`initial_delay` must be a finite number from 0"),
        ({"backoff_factor": math.nan}, ValueError, "`backoff_factor`"),
        ({"max_delay": math.inf}, ValueError, "`max_delay`"),
        ({"jitter": 1.1}, ValueError, "`jitter` must be from 0 to 1, found `1.1`"),
        ({"budget": -1.0}, ValueError, "`budget`"),
        ({"forget_after": math.nan}, ValueError, "`forget_after` must be seconds from 0 to"),
        ({"max_retries": -1}, ValueError, "`max_retries` must be from 0 to 4294967295, found `-1`"),
        ({"max_types": 2**32}, ValueError, "`max_types`"),
        ({"max_types": 1.5}, TypeError, "float"),
        ({"max_delay": "x"}, TypeError, "max_delay"),
    ],
)
def test_a_bad_setting_is_refused_by_name(
    settings: dict[str, Any], error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        ErrorHandler(**settings)


class Answered(Exception):
    """What an HTTP client raises for a status."""

    def __init__(self, status: object) -> None:
        super().__init__(f"status {status}")
        self.response = self
        self.status_code = status


class Hostile(Exception):
    """Whose attributes cannot be read."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise ZeroDivisionError(name)


class Lasting(llm_errors.RateLimitError):
    retryable = False


class Passing(llm_errors.LLMError):
    retryable = True


@pytest.mark.parametrize(
    ("error", "kind", "is_retried"),
    [
        (slow(), "rate_limit", True),
        (slow(retryable=False), "rate_limit", False),
        (Lasting("x"), "rate_limit", False),
        (Passing("x"), "internal", True),
        (llm_errors.QuotaExceededError("x", status_code=429), "quota", False),
        (llm_errors.LLMError("x"), "internal", False),
        (llm_errors.LLMError("x", retryable=True), "internal", True),
        *((llm_errors.LLMError("x", status_code=s), "server", True) for s in (500, 503, 529)),
        (llm_errors.LLMError("x", status_code=422), "validation", False),
        (llm_errors.LLMError("x", status_code=10**9), "internal", False),
        (TimeoutError(), "timeout", True),
        (ConnectionResetError(), "network", True),
        (PermissionError(), "permission", False),
        (PathDenied("x"), "permission", False),
        (FileNotFoundError(), "not_found", False),
        (OSError(), "storage", False),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), "validation", False),
        (asyncio.CancelledError(), "cancelled", False),
        (KeyError(), "internal", False),
        (Answered(529), "server", True),
        (Answered(401), "authentication", False),
        (Answered("529"), "internal", False),
        (Hostile(), "internal", False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_an_error_has_this_kind_and_is_tried_again_or_not(
    error: BaseException, kind: str, is_retried: bool
):
    assert error_kind(error) == kind
    assert isinstance(steady().handle(error, after(0)), Retry) is is_retried


# Holds: failure-2
def test_the_errors_of_providers_are_retried_exactly_if_the_kernel_does():
    for name, value in vars(llm_errors).items():
        if inspect.isclass(value) and issubclass(value, llm_errors.LLMError):
            decision = steady().handle(value("x"), after(0))
            assert isinstance(decision, Retry) is value.retryable, name


def test_the_kinds_are_those_of_the_engine():
    assert get_args(ErrorKind) == tuple(kind for kind, _ in error_kinds())


def test_errors_are_counted_by_type_and_forgotten_in_time():
    seconds = 0
    handler = ErrorHandler(max_types=2, clock=lambda: seconds)
    for error, at in [(slow(), 0), (KeyError(), 10), (slow(), 20)]:
        seconds = at
        handler.handle(error, after(0))

    assert list(handler.frequency().items()) == [("KeyError", 1), ("RateLimitError", 2)]
    handler.handle(OSError(), after(0))
    assert list(handler.frequency().items()) == [("RateLimitError", 2), ("OSError", 1)]
    seconds = 319
    assert len(handler.frequency()) == 2
    seconds = 320
    assert handler.frequency() == {}


def test_a_hundred_types_are_counted_and_no_more():
    handler = steady()
    for number in range(150):
        handler.handle(type(f"Error{number}", (Exception,), {})(), after(0))

    assert handler.frequency() == {f"Error{number}": 1 for number in range(50, 150)}


@pytest.mark.parametrize("time", [-(10**30), 2**64, 10**30])
def test_any_number_is_a_time(time: int):
    handler = ErrorHandler(clock=lambda: time)
    handler.handle(KeyError(), after(0))

    assert handler.frequency() == {"KeyError": 1}


def test_no_error_is_lost_between_threads():
    handler = steady()

    def fail() -> None:
        for _ in range(500):
            handler.handle(KeyError(), after(0))

    threads = [threading.Thread(target=fail) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert handler.frequency() == {"KeyError": 4000}
