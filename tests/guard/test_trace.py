"""Decisions of the Rust code reach `logging` when they are listened to, and cost nothing else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest

from amplifier_guard import CircuitBreaker, Redactor, ShellDenied, ShellPolicy
from amplifier_guard.trace import TraceLevel, listen, log_decisions

SINKS = "amplifier_guard.sinks"


@pytest.fixture
def listening() -> Iterator[Callable[[TraceLevel], Callable[[], None]]]:
    stops: list[Callable[[], None]] = []

    def start(level: TraceLevel) -> Callable[[], None]:
        stops.append(listen(level))
        return stops[-1]

    yield start
    for stop in stops:
        stop()
    log_decisions()


def refuse(command: str = "id") -> None:
    with pytest.raises(ShellDenied):
        ShellPolicy(["ls"]).check(command)


def test_nothing_is_kept_while_nobody_listens() -> None:
    refuse()
    assert log_decisions() == 0


# Holds: observe-7
def test_a_refusal_is_logged_under_the_place_that_decided(
    listening: Callable[[TraceLevel], Callable[[], None]], caplog: pytest.LogCaptureFixture
) -> None:
    stop = listening("debug")
    refuse()
    stop()
    refuse()
    with caplog.at_level(logging.DEBUG, SINKS):
        assert log_decisions() == 1
    (record,) = caplog.records
    reason = "no allowed prefix matches this `id` command"
    assert (record.name, record.levelno) == (SINKS, logging.DEBUG)
    assert record.getMessage() == f'refused sink="shell" reason="{reason}"'
    assert record.created > 1_700_000_000


def test_what_is_below_the_level_is_not_kept(
    listening: Callable[[TraceLevel], Callable[[], None]],
) -> None:
    listening("info")
    refuse()
    assert log_decisions() == 0
    breaker = CircuitBreaker(failures=1, recovery=1.0, clock=lambda: 0)
    breaker.failed(breaker.admit())
    assert log_decisions() == 1


def test_the_listener_that_wants_the_most_decides(
    listening: Callable[[TraceLevel], Callable[[], None]],
) -> None:
    stop_more, _ = listening("debug"), listening("error")
    refuse()
    assert log_decisions() == 1
    stop_more()
    stop_more()
    refuse()
    assert log_decisions() == 0


def test_a_secret_that_is_known_is_taken_out(
    listening: Callable[[TraceLevel], Callable[[], None]], caplog: pytest.LogCaptureFixture
) -> None:
    listening("debug")
    refuse("correct-horse-battery")
    with caplog.at_level(logging.DEBUG, SINKS):
        log_decisions(Redactor(["correct-horse-battery"]))
    assert "[REDACTED:secret]" in caplog.text
    assert "horse" not in caplog.text


def test_only_the_latest_are_kept(
    listening: Callable[[TraceLevel], Callable[[], None]], caplog: pytest.LogCaptureFixture
) -> None:
    listening("debug")
    for number in range(1200):
        refuse(f"program-{number}")
    with caplog.at_level(logging.DEBUG, SINKS):
        assert log_decisions() == 1000
    assert "program-200`" in caplog.records[0].getMessage()
    assert "program-1199`" in caplog.records[-1].getMessage()


def test_a_level_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="`level` must be one of `error`"):
        listen("loud")  # type: ignore[arg-type]
