"""Retries: how often, how long the waits are, and what a message tells of its error."""

from __future__ import annotations

import asyncio
import copy
import math
import pickle
import random
import warnings
from typing import Any
from unittest import mock

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amplifier_core
from amplifier_core import llm_errors, utils
from amplifier_core._kernel import error_words
from amplifier_core._provider_error import ProviderError
from amplifier_core.utils import retry
from amplifier_core.utils.retry import (
    RetryConfig,
    classify_error_message,
    compute_delay,
    retry_with_backoff,
)

STEADY = RetryConfig(jitter=False)


class Calls:
    """An operation that fails with the given errors and then succeeds."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.made = 0

    async def __call__(self) -> str:
        self.made += 1
        if self.made <= len(self.errors):
            raise self.errors[self.made - 1]
        return "done"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collects the waits instead of waiting them."""
    waited: list[float] = []

    async def sleep(seconds: float, *_: object) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(anyio, "sleep", sleep)
    return waited


def slow(**details: Any) -> llm_errors.RateLimitError:
    return llm_errors.RateLimitError("slow down", **details)


def test_the_names_are_the_same_objects_everywhere():
    for name in ("RetryConfig", "retry_with_backoff", "classify_error_message"):
        assert getattr(utils, name) is getattr(retry, name) is getattr(amplifier_core, name)
    assert set(utils.__all__) == {
        "truncate_values",
        "redact_secrets",
        "SENSITIVE_KEYS",
        "RetryConfig",
        "retry_with_backoff",
        "classify_error_message",
    }
    with pytest.raises(AttributeError, match=r"'amplifier_core.utils' has no attribute 'zzz'"):
        _ = utils.zzz


async def test_a_call_that_succeeds_is_made_once(waits: list[float]):
    calls = Calls()
    assert await retry_with_backoff(calls) == "done"
    assert (calls.made, waits) == (1, [])


async def test_waits_grow_until_the_limit_and_the_last_error_comes_out(waits: list[float]):
    errors = [slow() for _ in range(8)]
    calls = Calls(*errors)
    with pytest.raises(llm_errors.RateLimitError) as caught:
        await retry_with_backoff(calls, RetryConfig(max_retries=7, jitter=False))
    assert caught.value is errors[-1]
    assert waits == [1, 2, 4, 8, 16, 32, 60]


async def test_without_retries_there_is_one_call(waits: list[float]):
    calls = Calls(slow())
    with pytest.raises(llm_errors.RateLimitError):
        await retry_with_backoff(calls, RetryConfig(max_retries=0))
    assert (calls.made, waits) == (1, [])


@pytest.mark.parametrize(
    "error",
    [
        llm_errors.AuthenticationError("no key"),
        slow(retryable=False),
        ValueError("no error of a provider"),
        KeyboardInterrupt(),
    ],
)
async def test_what_cannot_be_retried_comes_through_at_once(
    error: BaseException, waits: list[float]
):
    calls = Calls(error)
    with pytest.raises(type(error)) as caught:
        await retry_with_backoff(calls)
    assert caught.value is error
    assert (calls.made, waits) == (1, [])


async def test_any_error_that_says_so_is_retried_with_its_own_wait(waits: list[float]):
    calls = Calls(
        llm_errors.LLMError("odd", retryable=True, retry_after=100.0),
        llm_errors.StreamError("broken", delay_multiplier=10.0),
    )
    assert await retry_with_backoff(calls, STEADY) == "done"
    assert waits == [100, 20]


# Holds: differ-101
@pytest.mark.parametrize("asked", [-1.0, 86_400.5, math.inf, math.nan])
async def test_nobody_waits_for_what_makes_no_sense_to_ask(asked: float, waits: list[float]):
    assert await retry_with_backoff(Calls(slow(retry_after=asked)), STEADY) == "done"
    assert waits == [1]


async def test_a_wait_of_a_day_is_honoured(waits: list[float]):
    assert await retry_with_backoff(Calls(slow(retry_after=86_400)), STEADY) == "done"
    assert waits == [86_400]


async def test_the_observer_gets_the_error_itself_before_each_wait(waits: list[float]):
    errors, seen = [slow(), llm_errors.NetworkError("gone")], []

    async def on_retry(attempt: int, delay: float, error: llm_errors.LLMError) -> None:
        seen.append((attempt, delay, error, len(waits)))

    assert await retry_with_backoff(Calls(*errors), STEADY, on_retry=on_retry) == "done"
    assert seen == [(1, 1.0, errors[0], 0), (2, 2.0, errors[1], 1)]


async def test_the_wait_is_cancelled_with_its_task():
    with anyio.move_on_after(0) as scope:
        await retry_with_backoff(Calls(slow()), RetryConfig(initial_delay=50))
    assert scope.cancelled_caught


def test_a_patched_sleep_of_the_module_is_used():
    with mock.patch("amplifier_core.utils.retry.asyncio.sleep") as sleep:
        asyncio.run(retry_with_backoff(Calls(slow()), STEADY))
    sleep.assert_awaited_once_with(1.0)


def test_the_defaults_and_the_names():
    config = RetryConfig()
    assert (config.max_retries, config.initial_delay, config.max_delay) == (3, 1.0, 60.0)
    assert (config.backoff_factor, config.jitter, config.honor_retry_after) == (2.0, 0.2, True)
    assert repr(RetryConfig(2, jitter=False)) == (
        "RetryConfig(max_retries=2, initial_delay=1.0, max_delay=60.0, backoff_factor=2.0, "
        "jitter=False, honor_retry_after=True)"
    )
    assert RetryConfig() != RetryConfig()


def test_a_config_cannot_be_changed_but_copied():
    config = RetryConfig(5, 0.5, jitter=False)
    with pytest.raises(AttributeError, match=r"`RetryConfig.max_retries` cannot be set"):
        config.max_retries = 4  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="cannot be set"):
        config.other = 4  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del config.max_delay  # pyright: ignore[reportAttributeAccessIssue]
    for other in (copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert repr(other) == repr(config)


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        ({"min_delay": 5}, "initial_delay", 5.0),
        ({"backoff_multiplier": 3}, "backoff_factor", 3.0),
        ({"jitter": 0.3}, "jitter", 0.2),
        ({"jitter": 0}, "jitter", 0.0),
    ],
)
def test_a_deprecated_argument_works_and_warns_once(
    arguments: dict[str, Any], name: str, value: float
):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = RetryConfig(**arguments)
    assert getattr(config, name) == value
    assert [warning.category for warning in caught] == [DeprecationWarning]
    assert next(iter(arguments)) in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["min_delay", "backoff_multiplier"])
def test_a_deprecated_getter_warns_once(name: str):
    with pytest.warns(DeprecationWarning, match=name) as caught:
        assert getattr(RetryConfig(), name) in (1.0, 2.0)
    assert len(caught) == 1


def test_the_new_name_wins_over_the_deprecated_one_without_a_warning():
    config = RetryConfig(initial_delay=2, min_delay=5, backoff_factor=3, backoff_multiplier=4)
    assert (config.initial_delay, config.backoff_factor) == (2.0, 3.0)


def test_jitter_of_an_unknown_kind_is_on_with_a_warning():
    with pytest.warns(UserWarning, match="`jitter` must be a `bool`, found `'x'`"):
        assert RetryConfig(jitter="x").jitter == 0.2  # pyright: ignore[reportArgumentType]


# Holds: differ-98
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"max_retries": -1}, OverflowError, "`max_retries` must be from 0 .*found `-1`"),
        ({"max_retries": 2**40}, OverflowError, "`max_retries`"),
        ({"max_retries": "3"}, TypeError, "`max_retries` must be an `int`, found `'3'`"),
        ({"max_retries": 1.5}, TypeError, "`max_retries`"),
        ({"initial_delay": "1"}, TypeError, "`initial_delay` must be a number, found `'1'`"),
        ({"initial_delay": None}, TypeError, "`initial_delay`"),
        ({"max_delay": math.nan}, ValueError, "`max_delay` must be a number, found NaN"),
        ({"backoff_factor": []}, TypeError, "`backoff_factor`"),
        ({"min_delay": "x"}, TypeError, "`min_delay`"),
        ({"honor_retry_after": 1}, TypeError, "`honor_retry_after` must be a `bool`"),
        ({"retries": 1}, TypeError, "retries"),
    ],
)
def test_a_bad_setting_is_refused_by_name(
    arguments: dict[str, Any], error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        RetryConfig(**arguments)


@pytest.mark.parametrize(
    ("arguments", "delay"),
    [
        ((0,), 1),
        ((5,), 32),
        ((6,), 60),
        ((2**31,), 60),
        ((2**32 - 1,), 60),
        ((3, 100.0), 100),
        ((3, 5.0), 8),
        ((0, -1.0), 1),
        ((0, math.nan), 1),
        ((3, None, 10.0), 80),
        ((9, 5.0, 10.0), 600),
        ((0, None, 0.0), 1),
        ((0, None, -2.0), 1),
        ((0, None, math.inf), 1),
        ((0, None, math.nan), 1),
    ],
)
def test_the_delay_after_an_attempt(arguments: tuple[Any, ...], delay: float):
    assert compute_delay(STEADY, *arguments) == delay


def test_a_delay_that_need_not_be_honoured_is_ignored():
    assert compute_delay(RetryConfig(jitter=False, honor_retry_after=False), 0, 100.0) == 1


# Holds: differ-103
@pytest.mark.parametrize("attempt", [-1, 2**32])
def test_an_attempt_has_32_bits(attempt: int):
    with pytest.raises(OverflowError, match="`attempt` must be from 0"):
        compute_delay(STEADY, attempt)


# Holds: differ-102
@given(
    attempt=st.integers(0, 2**32 - 1),
    retry_after=st.none() | st.floats(0, 1e6),
    multiplier=st.none() | st.floats(0.01, 100),
    factor=st.floats(0, 10),
    seed=st.integers(),
)
def test_jitter_spreads_a_wait_but_never_undercuts_what_the_server_asks(
    attempt: int, retry_after: float | None, multiplier: float | None, factor: float, seed: int
):
    random.seed(seed)
    steady = RetryConfig(backoff_factor=factor, jitter=False)
    plain = compute_delay(steady, attempt, None, multiplier)
    delay = compute_delay(RetryConfig(backoff_factor=factor), attempt, retry_after, multiplier)
    floor = retry_after or 0.0
    assert max(floor, 0.5 * plain) <= delay <= max(floor, 1.5 * plain)


@pytest.mark.parametrize(
    ("status", "message", "name"),
    [
        (401, "x", "AuthenticationError"),
        (403, "x", "AccessDeniedError"),
        (404, "x", "NotFoundError"),
        (413, "x", "ContextLengthError"),
        (429, "not found", "RateLimitError"),
        (500, "x", "ProviderUnavailableError"),
        (529, "x", "ProviderUnavailableError"),
        (400, "Maximum Context reached", "ContextLengthError"),
        (400, "bad", "InvalidRequestError"),
        (422, "bad", "InvalidRequestError"),
        (402, "bad", "LLMError"),
        (408, "bad", "LLMError"),
        (None, "too many tokens", "ContextLengthError"),
        (None, "Too Many Requests", "RateLimitError"),
        (None, "bad API key", "AuthenticationError"),
        (None, "model not found", "NotFoundError"),
        (None, "blocked by policy", "ContentFilterError"),
        (None, "whatever", "LLMError"),
    ],
)
def test_the_class_of_an_error(status: int | None, message: str, name: str):
    found = classify_error_message(message, status_code=status, provider="any")
    assert found is getattr(llm_errors, name)


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("prompt is too long", "context_length"),
        ("HTTP 429 Too long a queue", "context_length"),
        ("HTTP 429", "rate_limit"),
        ("Request Timed Out", "timeout"),
        ("401", "authentication"),
        ("safety", "content_filter"),
        ("404", "not_found"),
        ("Overloaded", "provider_unavailable"),
        ("", "unknown"),
    ],
)
def test_the_category_of_a_message(message: str, category: str):
    assert error_words.classify_error_message(message) == category


def test_a_message_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="`message` must be a `str`, found `3`"):
        error_words.classify_error_message(3)  # pyright: ignore[reportArgumentType]


def test_a_provider_error_is_data_and_shows_what_is_set():
    error = ProviderError(
        'm "q" é\n',
        provider="p",
        model="mm",
        retry_after=1.5,
        delay_multiplier=5.0,
        retryable=True,
        error_type="RateLimit",
    )
    assert not isinstance(error, BaseException)
    assert str(error) == 'm "q" é\n' == error.message
    assert error.error_type == "RateLimit"
    assert repr(error) == (
        'ProviderError("m \\"q\\" é\\n", provider="p", model="mm", retry_after=1.5, '
        "delay_multiplier=5, retryable=True)"
    )
    assert repr(ProviderError("\x07")) == 'ProviderError("\\u{7}")'


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e20, "1" + "0" * 20), (1e-7, "0.0000001"), (0, "0"), (math.nan, "NaN"), (math.inf, "inf")],
)
def test_a_provider_error_writes_numbers_in_full(value: float, text: str):
    assert repr(ProviderError("m", retry_after=value)) == f'ProviderError("m", retry_after={text})'


def test_a_provider_error_is_checked_and_fixed():
    with pytest.raises(TypeError, match="`message` must be a `str`, found `3`"):
        ProviderError(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="`retry_after` must be a number, found `'x'`"):
        ProviderError("m", retry_after="x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(AttributeError, match=r"`ProviderError.message` cannot be set"):
        ProviderError("m").message = "x"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match=r"`ProviderError.message` cannot be deleted"):
        del ProviderError("m").message  # pyright: ignore[reportAttributeAccessIssue]
