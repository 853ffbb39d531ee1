"""One rule for all providers: what is tried again, when, what is told, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from amplifier_core import CancellationToken
from amplifier_core.llm_errors import (
    AbortError,
    AuthenticationError,
    ConfigurationError,
    ContextLengthError,
    LLMError,
    LLMTimeoutError,
    NetworkError,
    ProviderUnavailableError,
    RateLimitError,
    StreamError,
)
from amplifier_providers.retries import CallRate, Retries, RetrySettings
from amplifier_providers.settings import read_settings


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


class World:
    """A time that passes while someone waits, an API that fails as told, and who is told of it."""

    def __init__(self, *failures: BaseException, **settings: Any) -> None:
        self.now = 0
        self.failures = list(failures)
        self.calls: list[float] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.token = CancellationToken()
        self.while_waiting: Callable[[], None] = lambda: None
        self.settings = RetrySettings(**{"retry_jitter": False, **settings})
        self.retries = Retries(
            "acme",
            self.settings,
            self,
            self.token,
            clock=lambda: self.now / 1e9,
            sleep=self.sleep,
        )

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.now += round(seconds * 1e9)
        self.while_waiting()

    async def operation(self) -> str:
        self.calls.append(self.now / 1e9)
        if self.failures:
            raise self.failures.pop(0)
        return "done"

    async def call(self, **options: Any) -> str:
        return await self.retries.call(self.operation, "m-1", **options)


def busy(status: int = 529, **details: Any) -> LLMError:
    return ProviderUnavailableError("busy", status_code=status, provider="acme", **details)


async def test_the_waits_grow_and_an_overload_takes_longer():
    world = World(busy(500), busy(503), busy(529))

    assert await world.call() == "done"
    assert world.calls == pytest.approx([0, 1, 3, 43])


async def test_no_wait_is_shorter_than_what_the_server_asks():
    world = World(*(RateLimitError("slow", retry_after=7) for _ in range(5)), retry_jitter=True)

    assert await world.call() == "done"
    waits = [later - earlier for earlier, later in zip(world.calls, world.calls[1:], strict=False)]
    assert all(wait >= 7 for wait in waits)


# Holds: failure-10
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (busy(529), "overloaded (529)"),
        (busy(500), "server error (500)"),
        (RateLimitError("slow", status_code=429), "too many requests (429)"),
        (NetworkError("gone"), "connection failed"),
        (LLMTimeoutError("late"), "timed out"),
        (StreamError("cut"), "stream interrupted"),
        (LLMError("odd", retryable=True), "LLMError"),
    ],
)
async def test_each_retry_is_told_with_its_number_its_wait_and_its_cause(
    error: LLMError, reason: str
):
    error.retry_after = 20.0
    world = World(error, overloaded_delay_multiplier=2.0)

    await world.call()

    told = {
        "provider": "acme", "model": "m-1", "attempt": 1, "max_retries": 5, "delay": 20.0,
        "reason": reason, "error_type": type(error).__name__, "error_message": str(error),
        "status_code": error.status_code, "retry_after": 20.0,
    }  # fmt: skip
    assert world.events == [("provider:retry", told)]


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("no", status_code=401),
        ContextLengthError("long", status_code=413),
        ConfigurationError("wrong"),
        busy(500, retryable=False),
        ValueError("a fault of ours"),
    ],
)
async def test_what_would_fail_again_comes_out_at_once(error: Exception):
    world = World(error)

    with pytest.raises(type(error)) as caught:
        await world.call()
    assert caught.value is error
    assert (world.calls, world.events) == ([0], [])


async def test_the_last_error_comes_out_after_the_most_retries():
    errors = [busy(500) for _ in range(3)]
    world = World(*errors, max_retries=2)

    with pytest.raises(ProviderUnavailableError) as caught:
        await world.call()
    assert caught.value is errors[-1]
    assert [data["attempt"] for _, data in world.events] == [1, 2]


async def test_no_retry_begins_beyond_the_budget():
    world = World(*(busy(500) for _ in range(9)), max_retries=9, retry_budget=8)

    with pytest.raises(ProviderUnavailableError):
        await world.call()
    assert world.calls == pytest.approx([0, 1, 3, 7])


async def test_nothing_is_repeated_that_was_seen_already():
    world = World(busy(500))

    with pytest.raises(ProviderUnavailableError):
        await world.call(may_repeat=lambda: False)
    assert (world.calls, world.events) == ([0], [])


# Holds: failure-12
@pytest.mark.parametrize("request_", ["request_graceful", "request_immediate"])
async def test_the_cancellation_of_the_session_ends_a_wait_at_once(request_: str):
    world = World(busy(529))

    def cancel() -> None:
        if world.now >= 3e9:
            getattr(world.token, request_)()

    world.while_waiting = cancel
    with pytest.raises(AbortError, match=r"cancelled while waiting to call `acme`$") as caught:
        await world.call()
    assert world.now < 3.2e9
    assert isinstance(caught.value.__context__, ProviderUnavailableError)
    assert world.calls == [0]


async def test_a_cancelled_task_waits_no_longer():
    world = World(busy(529))
    with anyio.CancelScope() as scope:
        world.while_waiting = scope.cancel
        await world.call()
    assert scope.cancelled_caught
    assert world.calls == [0]


# Holds: failure-14
async def test_an_api_that_fails_again_and_again_is_left_alone_and_then_tried_once():
    world = World(*(busy(500) for _ in range(9)), breaker_failures=4, max_retries=1)
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError, match="busy"):
            await world.call()
    assert len(world.calls) == 4

    world.now += 18 * 10**9
    with pytest.raises(ProviderUnavailableError) as refused:
        await world.call()
    expected = "circuit open for `acme` after repeated failures; retry in 42 s"
    assert str(refused.value) == expected
    error = refused.value
    assert error.hint == "retry in 42 s"
    assert (error.retry_after, error.provider, error.model) == (pytest.approx(42), "acme", "m-1")
    assert len(world.calls) == 4

    world.now += 42 * 10**9
    with pytest.raises(ProviderUnavailableError, match="busy"):
        await world.call()
    assert len(world.calls) == 5
    with pytest.raises(ProviderUnavailableError, match="in 60 s"):
        await world.call()

    world.now += 60 * 10**9
    world.failures.clear()
    assert [await world.call(), await world.call()] == ["done", "done"]


# Holds: failure-13
async def test_one_call_too_many_waits_and_is_told_of():
    world = World(busy(500), rate=CallRate(limit=2, period=10.0))

    assert [await world.call(), await world.call()] == ["done", "done"]
    assert world.calls == pytest.approx([0, 1, 5])
    assert [event for event, _ in world.events] == ["provider:retry", "provider:throttle"]
    assert world.events[-1][1] == {
        "provider": "acme", "model": "m-1", "delay": pytest.approx(4),
        "reason": "rate limit reached",
    }  # fmt: skip


async def test_a_call_that_would_wait_beyond_the_budget_is_not_made():
    world = World(rate=CallRate(limit=1, period=1000.0), retry_budget=500)
    await world.call()

    with pytest.raises(RateLimitError) as caught:
        await world.call()
    expected = "rate limit of `acme` reached; retry in 1000 s"
    assert str(caught.value) == expected
    assert (caught.value.retry_after, caught.value.model) == (1000, "m-1")
    assert world.calls == [0]


async def test_the_cancellation_of_the_session_ends_a_wait_for_the_rate():
    world = World(rate=CallRate(limit=1, period=100.0))
    await world.call()
    world.while_waiting = world.token.request_graceful

    with pytest.raises(AbortError):
        await world.call()
    assert world.now < 1e9


async def test_without_a_breaker_an_api_is_never_left_alone():
    world = World(*(busy(500) for _ in range(30)), breaker_failures=0, max_retries=0)
    for _ in range(30):
        with pytest.raises(ProviderUnavailableError, match="busy"):
            await world.call()
    assert await world.call() == "done"


async def test_a_refused_key_leaves_nothing_alone():
    world = World(*(AuthenticationError("no") for _ in range(3)), breaker_failures=1)
    for _ in range(3):
        with pytest.raises(AuthenticationError):
            await world.call()
    assert await world.call() == "done"


async def test_nobody_needs_to_be_told():
    world = World(busy(500))
    retries = Retries("acme", RetrySettings(), clock=lambda: world.now / 1e9, sleep=world.sleep)

    assert await retries.call(world.operation, None) == "done"


def read(**config: Any) -> RetrySettings:
    return read_settings(RetrySettings, config, "provider-acme")


def test_the_settings_are_read_from_the_config_of_the_provider():
    assert read(max_retries=None) == RetrySettings()
    settings = {
        "max_retries": 0, "min_retry_delay": 0.5, "max_retry_delay": 8.0, "retry_jitter": False,
        "overloaded_delay_multiplier": 1.0, "retry_budget": 30.0, "breaker_failures": 3,
        "breaker_recovery": 5.0,
    }  # fmt: skip
    assert read(**settings) == RetrySettings(**settings)
    assert read(rate={"limit": 3}) == RetrySettings(rate=CallRate(limit=3, period=60.0, burst=None))
    rate = {"limit": 3, "period": 1, "burst": 9}
    assert read(rate=rate) == RetrySettings(rate=CallRate(limit=3, period=1.0, burst=9))


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"max_retries": -1}, "`max_retries` is -1 (must be a whole number, at least 0, "),
        (
            {"max_retries": 10**12},
            "`max_retries` is 1000000000000 (must be a whole number, at least 0, at most 1,000,000)",
        ),
        ({"max_retries": True}, "`max_retries` is True (must be a whole number"),
        ({"max_retries": 2.0}, "`max_retries` is 2.0 (must be a whole number"),
        ({"min_retry_delay": "1"}, "`min_retry_delay` is '1' (must be a number"),
        ({"max_retry_delay": float("nan")}, "`max_retry_delay` is nan"),
        ({"retry_jitter": 0.2}, "`retry_jitter` is 0.2 (must be true or false)"),
        (
            {"overloaded_delay_multiplier": 0},
            "`overloaded_delay_multiplier` is 0 (must be a number, at least 1)",
        ),
        ({"retry_budget": float("inf")}, "`retry_budget` is inf"),
        ({"breaker_failures": 1.5}, "`breaker_failures` is 1.5 (must be a whole number"),
        ({"breaker_recovery": 0}, "`breaker_recovery` is 0"),
        ({"rate": 5}, "`rate` is 5 (must be a mapping)"),
        ({"rate": {}}, "`rate.limit` is missing"),
        ({"rate": {"limit": 0}}, "`rate.limit` is 0 (must be a whole number, at least 1"),
        ({"rate": {"limit": 1, "period": 0}}, "`rate.period` is 0"),
        (
            {"rate": {"limit": 1, "period": 1e9}},
            "`rate.period` is 1000000000.0 (must be a number, at least 0.001, at most 31,536,000)",
        ),
        ({"rate": {"limit": 1, "burst": "x"}}, "`rate.burst` is 'x' (must be a whole number"),
        (
            {"rate": {"limit": 1, "brust": 2}},
            "`rate.brust` is unknown (did you mean `burst`?)",
        ),
    ],
)
def test_a_setting_that_cannot_work_is_named(config: dict[str, Any], named: str):
    with pytest.raises(ConfigurationError) as caught:
        read(**config)
    assert str(caught.value).startswith("provider-acme: ")
    assert named in str(caught.value)


@pytest.mark.parametrize("key", ["min_retry_delay", "max_retry_delay", "retry_budget"])
@pytest.mark.parametrize("value", [0, 1e300])
async def test_what_is_read_works_at_its_edges(key: str, value: float):
    world = World(busy(500), **{key: value}, max_retries=10**6, breaker_failures=10**6)

    edges = [
        CallRate(limit=1, period=0.001, burst=1),
        CallRate(limit=10**6, period=31_536_000.0, burst=10**6),
    ]
    world.retries = Retries(
        "acme", world.settings.model_copy(update={"rate": edges[value > 0]}), clock=lambda: world.now / 1e9,
        sleep=world.sleep,
    )  # fmt: skip
    if (key, value) == ("retry_budget", 0):
        with pytest.raises(ProviderUnavailableError):
            await world.call()
    else:
        assert await world.call() == "done"
