"""The circuit breaker as Python sees it: one trial at a time, by a clock that is given."""

from __future__ import annotations

import math
import pickle
import threading

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from amplifier_guard import CircuitBreaker, CircuitOpen
from amplifier_guard.breaker import Permit


class Clock:
    """A time that passes when told."""

    def __init__(self) -> None:
        self.seconds = 0

    def __call__(self) -> float:
        return self.seconds


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock=clock)
    for _ in range(5):
        breaker.failed(breaker.admit())
    return breaker


def test_five_failures_in_a_row_open_it_for_a_minute():
    clock = Clock()
    breaker = opened(clock)
    assert (breaker.state, breaker.wait()) == ("open", 60.0)

    clock.seconds = 59
    with pytest.raises(
        CircuitOpen, match=r"circuit open after repeated failures; retry in 1 s"
    ) as caught:
        breaker.admit()
    assert caught.value.retry_after == 1.0

    clock.seconds = 60
    assert (breaker.state, breaker.wait()) == ("half_open", 0.0)


def test_a_success_of_the_trial_closes_it_and_a_failure_opens_it_again():
    clock = Clock()
    breaker = opened(clock)
    clock.seconds = 60
    breaker.failed(breaker.admit())
    assert breaker.state == "open"

    clock.seconds = 120
    breaker.succeeded(breaker.admit())
    assert breaker.state == "closed"


def test_an_abandoned_trial_makes_way_for_another():
    clock = Clock()
    breaker = opened(clock)
    clock.seconds = 60
    breaker.abandoned(breaker.admit())

    breaker.succeeded(breaker.admit())
    assert breaker.state == "closed"


# Holds: failure-6
def test_of_many_threads_one_makes_the_trial():
    clock = Clock()
    breaker = opened(clock)
    clock.seconds = 60
    start = threading.Barrier(16)
    permits: list[Permit] = []
    refusals: list[CircuitOpen] = []

    def ask() -> None:
        start.wait()
        try:
            permits.append(breaker.admit())
        except CircuitOpen as refusal:
            refusals.append(refusal)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(permits), len(refusals)) == (1, 15)


@pytest.mark.parametrize(
    ("failures", "recovery", "message"),
    [
        (0, 60.0, "`failures` must be at least 1, found `0`"),
        (-1, 60.0, "`failures` must be from 0 to 4294967295, found `-1`"),
        (5, -1.0, "`recovery` must be seconds from 0 to 18446744073, found `-1`"),
        (5, math.nan, "`recovery`"),
        (5, 1e12, "`recovery`"),
    ],
)
def test_a_bad_setting_is_refused_by_name(failures: int, recovery: float, message: str):
    with pytest.raises(ValueError, match=message):
        CircuitBreaker(failures=failures, recovery=recovery)


class Model(RuleBasedStateMachine):
    """Calls that follow each other, and a clock that runs on: a breaker of the simplest kind."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = CircuitBreaker(failures=2, recovery=10, clock=self.clock)
        self.failures = 0
        self.open_until = 0

    @rule(seconds=st.integers(0, 12))
    def time_passes(self, seconds: int) -> None:
        self.clock.seconds += seconds

    @rule(succeeds=st.booleans())
    def a_call_is_made(self, succeeds: bool) -> None:
        if self.clock.seconds < self.open_until:
            with pytest.raises(CircuitOpen):
                self.breaker.admit()
        elif succeeds:
            self.breaker.succeeded(self.breaker.admit())
            self.failures = self.open_until = 0
        else:
            self.breaker.failed(self.breaker.admit())
            self.failures += 1
            if self.failures >= 2:
                self.open_until = self.clock.seconds + 10

    @invariant()
    def it_is_in_the_state_of_the_model(self) -> None:
        wait = max(self.open_until - self.clock.seconds, 0)
        state = "open" if wait else "half_open" if self.open_until else "closed"
        assert (self.breaker.state, self.breaker.wait()) == (state, wait)


TestModel = Model.TestCase


@pytest.mark.parametrize(
    ("wait", "shown"),
    [
        (9.0, "9 s"),
        (0.25, "0.25 s"),
        (5e-9, "0.001 s"),
        (60.0004, "60.001 s"),
        (3600, "3600 s"),
        (math.inf, "inf s"),
    ],
)
def test_a_refusal_advises_to_retry_in_seconds(wait: float, shown: str):
    refusal = CircuitOpen(wait)

    assert str(refusal) == f"circuit open after repeated failures; retry in {shown}"
    assert refusal.hint == f"retry in {shown}"
    copy = pickle.loads(pickle.dumps(refusal))
    assert (str(copy), copy.hint, copy.retry_after) == (str(refusal), refusal.hint, wait)
