"""Token buckets as Python sees them: exact, each name for itself, by a clock that is given."""

from __future__ import annotations

import math
import pickle
import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard import Rate, RateLimited, RateLimiter

SECOND = 10**9
"""Nanoseconds: the smallest steps of a clock."""


def is_allowed(limiter: RateLimiter, user: str) -> bool:
    try:
        limiter.take(user=user)
    except RateLimited:
        return False
    return True


def test_a_burst_is_allowed_and_then_the_rate():
    now = 0
    limiter = RateLimiter(user=Rate(60, burst=2), clock=lambda: now)
    limiter.take(user="ada")
    limiter.take(user="ada")

    with pytest.raises(
        RateLimited, match=r"rate limit of this user reached; retry in 1 s"
    ) as caught:
        limiter.take(user="ada")
    assert (caught.value.scope, caught.value.retry_after) == ("user", 1.0)
    now = 1
    limiter.take(user="ada")


def test_each_user_tool_and_provider_counts_alone_and_a_refused_call_takes_nothing():
    one = Rate(1)
    limiter = RateLimiter(user=one, tool=one, provider=one, clock=lambda: 0)
    limiter.take(user="x", tool="x", provider="x")
    for names in ({"user": "x"}, {"tool": "x"}, {"provider": "x"}):
        with pytest.raises(RateLimited) as caught:
            limiter.take(**({"user": "y", "tool": "y", "provider": "y"} | names))
        assert caught.value.scope == next(iter(names))

    limiter.take(user="y", tool="y", provider="y")
    assert limiter.names == 6


def test_without_a_rate_or_a_name_there_is_no_limit():
    limiter = RateLimiter(user=Rate(1), clock=lambda: 0)
    for _ in range(100):
        limiter.take(tool="x")
        limiter.take()
    assert limiter.names == 0


def test_a_rest_of_centuries_brings_a_burst_and_a_clock_that_jumps_back_nothing():
    now = 0
    limiter = RateLimiter(user=Rate(1, burst=2), clock=lambda: now)
    for time in (0, 10**30):
        now = time
        assert [is_allowed(limiter, "ada") for _ in range(3)] == [True, True, False]
    for time in (-(10**30), 0, 2**64 - 1, 3):
        now = time
        assert not is_allowed(limiter, "ada")


# Holds: failure-8
def test_many_names_do_not_make_those_who_wait_forgotten():
    limiter = RateLimiter(user=Rate(1), max_names=3, clock=lambda: 0)
    limiter.take(user="ada")
    answers = [is_allowed(limiter, str(number)) for number in range(100)]

    assert answers == [True, True] + [False] * 98
    assert not is_allowed(limiter, "ada")
    assert limiter.names == 3


# Holds: failure-7
@given(
    limit=st.integers(1, 10),
    period=st.integers(1, 10),
    burst=st.integers(1, 4),
    calls=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3 * SECOND)), max_size=30),
)
def test_the_level_is_an_exact_fraction(
    limit: int, period: int, burst: int, calls: list[tuple[str, int]]
):
    now = 0
    limiter = RateLimiter(user=Rate(limit, period, burst), clock=lambda: now / SECOND)
    levels = {name: (Fraction(burst), 0) for name in "ab"}
    for name, step in calls:
        now += step
        level, at = levels[name]
        gained = Fraction((now - at) * limit, period * SECOND)
        level = min(level + gained, Fraction(burst))
        allowed = level >= 1
        levels[name] = (level - 1 if allowed else level, now)

        assert is_allowed(limiter, name) is allowed


def test_threads_get_as_many_calls_as_there_are():
    limiter = RateLimiter(user=Rate(1000), clock=lambda: 0)
    start = threading.Barrier(8)
    allowed: list[bool] = []

    def ask() -> None:
        start.wait()
        allowed.extend([is_allowed(limiter, "ada") for _ in range(200)])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(allowed), sum(allowed)) == (1600, 1000)


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (Rate(0), "`limit` must be at least 1, found `0`"),
        (Rate(10**30), "`limit` must be from 0 to 4294967295"),
        (Rate(1, 0.0), "`period` must be longer than 0 seconds, found `0`"),
        (Rate(1, math.nan), "`period` must be seconds from 0 to 18446744073, found `NaN`"),
        (Rate(1, 60.0, 0), "`burst` must be at least 1, found `0`"),
    ],
)
def test_a_bad_rate_is_refused_by_name(rate: Rate, message: str):
    with pytest.raises(ValueError, match=message):
        RateLimiter(tool=rate)


def test_too_little_room_and_too_long_a_name_are_refused():
    with pytest.raises(ValueError, match="`max_names` must be at least 3, found `2`"):
        RateLimiter(max_names=2)
    with pytest.raises(ValueError, match="name of the user must have at most 1024 bytes"):
        RateLimiter(user=Rate(1)).take(user="x" * 1025)


def test_a_refusal_advises_to_retry_in_seconds():
    refusal = RateLimited("tool", 4.5)

    assert str(refusal) == "rate limit of this tool reached; retry in 4.5 s"
    assert refusal.hint == "retry in 4.5 s"
    copy = pickle.loads(pickle.dumps(refusal))
    assert (str(copy), copy.hint, copy.scope) == (str(refusal), refusal.hint, "tool")
