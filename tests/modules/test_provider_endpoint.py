"""Mounts of one endpoint know of each other's failures and limits, and no others do."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import anyio
import pytest

from amplifier_core.llm_errors import ProviderUnavailableError
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.provider import AnthropicProvider
from amplifier_providers.limits.endpoint import endpoint_of
from amplifier_providers.openai_chat.config import ChatConfig, read_config
from amplifier_providers.openai_chat.provider import ChatProvider
from amplifier_providers.retries import Retries, RetrySettings

URL = "http://127.0.0.1:9/v1"
SETTINGS = RetrySettings(breaker_failures=2, max_retries=0, retry_jitter=False)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


class Time:
    def __init__(self) -> None:
        self.now = 0

    def clock(self) -> float:
        return self.now / 1e9


@pytest.fixture
def time() -> Time:
    return Time()


def mount(
    time: Time, url: str = URL, key: str = "key", settings: RetrySettings = SETTINGS
) -> Retries:
    retries = Retries("p", settings, clock=time.clock)
    retries.endpoint = endpoint_of(url, (key,))
    return retries


async def fail() -> str:
    raise ProviderUnavailableError("busy", status_code=500)


async def is_open(retries: Retries) -> bool:
    """Whether the circuit of a mount refuses a call."""

    async def succeed() -> str:
        return "done"

    try:
        return await retries.call(succeed, None) != "done"
    except ProviderUnavailableError as error:
        return str(error).startswith("circuit open for `p`")


async def test_mounts_of_one_endpoint_share_the_breaker(time: Time) -> None:
    one, two = mount(time), mount(time)
    for retries in (one, two):
        with pytest.raises(ProviderUnavailableError, match="busy"):
            await retries.call(fail, None)
    assert await is_open(one)
    assert await is_open(two)
    assert await is_open(mount(time, "http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    "other",
    [
        {"url": "http://127.0.0.1:9/v2"},
        {"url": "http://127.0.0.1:10/v1"},
        {"url": "https://127.0.0.1:9/v1"},
        {"key": "another"},
        {"key": ""},
        {"settings": RetrySettings(breaker_failures=3)},
    ],
    ids=str,
)
async def test_mounts_of_other_endpoints_or_settings_do_not(
    time: Time, other: dict[str, Any]
) -> None:
    one, two = mount(time), mount(time, **other)
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError, match="busy"):
            await one.call(fail, None)
    assert await is_open(one)
    assert not await is_open(two)


# Holds: failure-16
async def test_of_all_mounts_one_makes_the_trial(time: Time) -> None:
    mounts = [mount(time) for _ in range(5)]
    for retries in mounts[:2]:
        with pytest.raises(ProviderUnavailableError, match="busy"):
            await retries.call(fail, None)
    time.now += 60 * 10**9
    tried: list[int] = []
    refused: list[str] = []
    go_on = anyio.Event()

    async def trial(number: int) -> str:
        tried.append(number)
        await go_on.wait()
        return "done"

    async def call(number: int) -> None:
        try:
            await mounts[number].call(lambda: trial(number), None)
        except ProviderUnavailableError as error:
            refused.append(str(error))
        if len(refused) == 4:
            go_on.set()

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(call, number)
    assert (len(tried), len(refused)) == (1, 4)
    assert not await is_open(mounts[4])


async def test_a_trial_that_is_cancelled_is_made_by_the_next_mount(time: Time) -> None:
    one, two = mount(time), mount(time)
    for retries in (one, two):
        with pytest.raises(ProviderUnavailableError, match="busy"):
            await retries.call(fail, None)
    time.now += 60 * 10**9

    with anyio.CancelScope() as scope:

        async def cancelled() -> str:
            scope.cancel()
            await anyio.sleep_forever()
            return ""

        await one.call(cancelled, None)
    assert scope.cancelled_caught
    assert not await is_open(two)


def test_an_endpoint_is_forgotten_with_its_last_mount(time: Time) -> None:
    mounts = [mount(time, f"http://127.0.0.1/{number}") for number in range(100)]
    held = [weakref.ref(retries.endpoint) for retries in mounts]
    assert None not in [endpoint() for endpoint in held]
    del mounts
    gc.collect()
    assert [endpoint() for endpoint in held] == [None] * 100


def test_a_breaker_is_forgotten_with_its_last_mount() -> None:
    shared = endpoint_of(URL, ("key",))
    for _ in range(100):
        shared.find_breaker(2, 60.0, Time().clock)
    gc.collect()
    assert len(shared._breakers) == 0  # pyright: ignore[reportPrivateUsage]


def test_threads_find_one_endpoint_and_one_breaker(time: Time) -> None:
    ready, found = threading.Barrier(16), []

    def find() -> None:
        ready.wait()
        shared = endpoint_of(URL, ("threads",))
        found.append((shared, shared.find_breaker(2, 60.0, time.clock)))

    threads = [threading.Thread(target=find) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(shared) for shared, _ in found}) == 1
    assert len({id(breaker) for _, breaker in found}) == 1


def test_no_name_of_an_endpoint_says_its_key() -> None:
    name = endpoint_of("https://user:password@api.example.com/v1", ("sk-secret",)).name
    assert name.startswith("api.example.com:")
    assert "secret" not in name
    assert "password" not in name


def test_providers_of_one_address_and_key_have_one_endpoint() -> None:
    def anthropic(**given: Any) -> AnthropicProvider:
        return AnthropicProvider(AnthropicConfig(**{"api_key": "key", "base_url": URL, **given}))

    def chat() -> ChatProvider:
        config = read_config({"api_key": "key", "base_url": URL, "default_model": "m"}, {}, None)
        assert isinstance(config, ChatConfig)
        return ChatProvider.of(config)

    def place(provider: Any) -> object:
        return provider._retries.endpoint

    one, two = anthropic(), anthropic(base_url=f"{URL}/")
    assert place(one) is place(two)
    assert place(one) is not place(anthropic(api_key="another"))
    assert place(chat()) is place(chat()) is not None
