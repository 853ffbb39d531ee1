"""Retries: which failures, after which waits, and a stream only while nothing was shown."""

from __future__ import annotations

import pytest
from fake_step import Clock, FakeStep, api_error, ask, response, take
from hypothesis import given
from hypothesis import strategies as st

from arcllm import ArcLLMAPIError, ArcLLMConfigError
from arcllm.deltas import TextDelta
from arcllm.layers.retry import RetryLayer, RetrySettings
from arcllm.layers.stack import build_stack


def retrying(step: FakeStep, clock: Clock, random: float = 0.0, **settings) -> RetryLayer:
    chosen = RetrySettings(**settings)
    return RetryLayer(step, chosen, clock=clock.seconds, sleep=clock.sleep, random=lambda: random)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529, 408])
async def test_a_temporary_failure_is_retried(status):
    step, clock, call = FakeStep([api_error(status), response("done")]), Clock(), ask()

    assert await retrying(step, clock).complete(call) == response("done")
    assert clock.slept == [1.0]
    assert call.notes == {"retries": 1}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_permanent_failure_is_not_retried(status):
    step, clock = FakeStep([api_error(status), response()]), Clock()

    with pytest.raises(ArcLLMAPIError) as failed:
        await retrying(step, clock).complete(ask())

    assert failed.value.status_code == status
    assert len(step.calls) == 1


async def test_an_error_says_itself_whether_it_is_temporary():
    lost = ArcLLMAPIError(None, "connection lost", "fake", retryable=True)
    quota = ArcLLMAPIError(429, "quota used up", "fake", retryable=False)
    step, clock = FakeStep([lost, quota]), Clock()

    with pytest.raises(ArcLLMAPIError, match="quota"):
        await retrying(step, clock).complete(ask())

    assert len(step.calls) == 2


async def test_codes_of_the_settings_are_retried_and_no_others():
    step, clock = FakeStep([api_error(418), api_error(503)]), Clock()

    with pytest.raises(ArcLLMAPIError) as failed:
        await retrying(step, clock, retry_codes=[418]).complete(ask())

    assert failed.value.status_code == 503
    assert len(step.calls) == 2


async def test_the_last_error_is_raised_itself_once_the_retries_are_used_up():
    errors = [api_error(503), api_error(500), api_error(502)]
    step, clock, call = FakeStep(list(errors)), Clock(), ask()

    with pytest.raises(ArcLLMAPIError) as failed:
        await retrying(step, clock, max_retries=2).complete(call)

    assert failed.value is errors[-1]
    assert call.notes == {"retries": 2}


@given(
    base=st.floats(0.01, 100),
    longest=st.floats(0.01, 100),
    random=st.floats(0, 1),
    failures=st.integers(1, 8),
)
async def test_waits_double_at_random_up_to_their_limit(base, longest, random, failures):
    step, clock = FakeStep([*[api_error(500)] * failures, response()]), Clock()
    layer = retrying(
        step, clock, random, max_retries=failures, backoff_base_seconds=base,
        max_wait_seconds=longest, total_seconds=86_400.0,
    )  # fmt: skip

    await layer.complete(ask())

    for attempt, wait in enumerate(clock.slept):
        least = min(base * 2**attempt, longest / 2)
        most = min(2 * base * 2**attempt, longest)
        assert least * (1 - 1e-6) <= wait <= most * (1 + 1e-6)


async def test_the_wait_a_service_asks_for_is_kept_even_beyond_the_limit():
    step, clock = FakeStep([api_error(429, retry_after=90), response()]), Clock()

    await retrying(step, clock, max_wait_seconds=60.0).complete(ask())

    assert clock.slept == [90.0]


async def test_a_service_that_wants_to_be_left_alone_for_too_long_is_not_waited_for():
    step, clock = FakeStep([api_error(429, retry_after=3600), response()]), Clock()

    with pytest.raises(ArcLLMAPIError) as failed:
        await retrying(step, clock, total_seconds=600.0).complete(ask())

    assert failed.value.retry_after == 3600
    assert clock.slept == []


async def test_a_stream_is_begun_again_while_nothing_was_shown():
    step, clock = FakeStep([api_error(503), response("a b")]), Clock()

    pieces = [piece async for piece in retrying(step, clock).stream(ask())]

    assert pieces == [TextDelta("a"), TextDelta("b"), response("a b")]


# Holds: layer-4
async def test_a_stream_that_was_shown_is_not_begun_again():
    step, clock, shown = FakeStep([response("a b c")], fails_after=2), Clock(), []

    with pytest.raises(ArcLLMAPIError):
        await take(retrying(step, clock).stream(ask()), shown)

    assert shown == [TextDelta("a"), TextDelta("b")]
    assert len(step.calls) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_retries": -1}, "retry: `max_retries` is -1 (must be a whole number, at least 0"),
        (
            {"backoff_base_seconds": 0},
            "retry: `backoff_base_seconds` is 0 (must be a number, above",
        ),
        ({"retries": 3}, "retry: `retries` is unknown (did you mean `max_retries`?)"),
        ({"retry_codes": [42]}, "retry: `retry_codes.0` is 42"),
    ],
)
def test_a_wrong_setting_is_named_with_its_layer(settings, message):
    with pytest.raises(ArcLLMConfigError) as refused:
        build_stack(FakeStep(), {"retry": settings}, lambda name, model: FakeStep())

    assert refused.value.message.startswith(message)
