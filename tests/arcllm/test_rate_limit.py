"""The rate limit: one for each provider, whatever the model, the task or the thread."""

from __future__ import annotations

import threading

import anyio
import pytest
from fake_step import Clock, FakeStep, ask, response
from hypothesis import given
from hypothesis import strategies as st

from arcllm.layers.rate_limit import RateLimitLayer, RateLimitSettings
from arcllm.layers.stack import clear_cache


@pytest.fixture(autouse=True)
def _forgotten():
    clear_cache()
    yield
    clear_cache()


def limited(clock: Clock, name: str = "fake", model: str = "small", **settings) -> RateLimitLayer:
    step = FakeStep(name=name, model_name=model)
    chosen = RateLimitSettings(**settings)
    return RateLimitLayer(step, chosen, clock=clock.seconds, sleep=clock.sleep)


@given(rpm=st.integers(1, 600), burst=st.none() | st.integers(1, 20), calls=st.integers(1, 40))
async def test_calls_beyond_the_burst_wait_for_their_turn(rpm, burst, calls):
    clear_cache()
    clock = Clock()
    layer = limited(clock, requests_per_minute=rpm, burst_capacity=burst)
    begun = []

    for _ in range(calls):
        await layer.complete(ask())
        begun.append(clock.now / 1e9)

    most = burst or rpm
    expected = [max(0, index - most + 1) * 60 / rpm for index in range(calls)]
    assert begun == pytest.approx(expected, abs=1e-6)


# Holds: layer-7
async def test_the_models_of_a_provider_share_its_limit_and_other_providers_do_not():
    clock = Clock()
    small = limited(clock, model="small", requests_per_minute=1)
    big = limited(clock, model="big", requests_per_minute=1)
    other = limited(clock, name="other", requests_per_minute=1)

    for layer in (small, other, big):
        await layer.complete(ask())

    assert clock.slept == [60.0]


async def test_the_limit_is_that_of_the_model_that_was_loaded_last():
    clock = Clock()
    first = limited(clock, requests_per_minute=1)
    limited(clock, requests_per_minute=2)

    for _ in range(3):
        await first.complete(ask())

    assert clock.slept == [30.0]


async def test_clearing_the_cache_forgets_what_was_asked():
    clock = Clock()
    layer = limited(clock, requests_per_minute=1)
    await layer.complete(ask())

    clear_cache()
    await layer.complete(ask())

    assert clock.slept == []


async def test_how_long_a_call_waited_is_noted():
    clock = Clock()
    layer = limited(clock, requests_per_minute=6, burst_capacity=1)
    first, second = ask(), ask()

    await layer.complete(first)
    pieces = [piece async for piece in layer.stream(second)]

    assert pieces[-1] == response()
    assert (first.notes, second.notes) == ({}, {"rate_limit_wait_seconds": 10.0})


async def test_waiting_calls_do_not_hold_up_others():
    clock = Clock()
    layer = limited(clock, requests_per_minute=1)
    other = limited(clock, name="other", requests_per_minute=1)
    order = []

    async def slept(seconds: float) -> None:
        del seconds
        await other.complete(ask())
        order.append("other")
        clock.now += 60 * 10**9

    layer._sleep = slept
    await layer.complete(ask())
    await layer.complete(ask())

    assert order == ["other"]


# Holds: layer-7
def test_the_threads_of_a_process_share_the_limit():
    clock, admitted = Clock(), []

    async def refuse(seconds: float) -> None:
        raise TimeoutError(seconds)

    def ask_often() -> None:
        layer = RateLimitLayer(
            FakeStep(), RateLimitSettings(requests_per_minute=50), clock=clock.seconds, sleep=refuse
        )
        for _ in range(25):
            try:
                anyio.run(layer.complete, ask())
            except TimeoutError:
                pass
            else:
                admitted.append(1)

    threads = [threading.Thread(target=ask_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(admitted) == 50


async def test_a_call_that_is_cancelled_while_it_waits_is_not_made():
    clock = Clock()
    layer = limited(clock, requests_per_minute=1)
    await layer.complete(ask())

    with anyio.CancelScope() as scope:
        scope.cancel()
        await layer.complete(ask())

    assert scope.cancelled_caught
    assert len(layer.beneath.calls) == 1
