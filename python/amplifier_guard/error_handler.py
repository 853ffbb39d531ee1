"""Whether and when a failed operation is retried."""

from __future__ import annotations

import random as _random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from amplifier_core._engine import ErrorHandler as Engine
from amplifier_guard._clock import Clock, now
from amplifier_guard._count import count
from amplifier_guard.error_context import ErrorContext
from amplifier_guard.error_kind import failure_of


@dataclass(frozen=True, slots=True)
class Retry:
    """Call again."""

    delay: float
    """Seconds to wait before."""
    attempt: int
    """Number of the retry, from 1."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not call again."""

    reason: Literal["not_retryable", "retries_exhausted", "budget_spent"]


_GIVE_UPS: dict[str | None, GiveUp] = {
    "not_retryable": GiveUp("not_retryable"),
    "retries_exhausted": GiveUp("retries_exhausted"),
    "budget_spent": GiveUp("budget_spent"),
}


class ErrorHandler:
    """Decides on retries, and counts errors by type; safe to share between threads.

    The waits are those of the kernel's `compute_delay`: exponential, limited, with jitter, and at
    least as long as the server asks for, unless that is negative or more than a day. No wait is
    longer than a day.

    Args:
        max_retries: Maximum number of calls after the first one.
        initial_delay: Seconds before the first retry.
        backoff_factor: Factor from one wait to the next.
        max_delay: Most seconds of a wait, before an error's `delay_multiplier` and `retry_after`.
        jitter: Share of a wait, from 0 to 1, by which it is randomly longer or shorter; 0.5 is
            the kernel's spread.
        budget: Seconds after the first call beyond which no retry begins; None for no limit.
        max_types: Most types of errors that are counted.
        forget_after: Seconds after which a type is forgotten unless it occurs again.
        clock: Returns the current time in nanoseconds; it must not run backwards.
        random: Returns a number from 0 to 1.

    Raises:
        ValueError: A setting is out of range.
    """

    def __init__(
        self,
        *,
        max_retries: int = 3,
        initial_delay: float = 0.5,
        backoff_factor: float = 2.0,
        max_delay: float = 30.0,
        jitter: float = 0.1,
        budget: float | None = None,
        max_types: int = 100,
        forget_after: float = 300.0,
        clock: Clock = time.monotonic_ns,
        random: Callable[[], float] = _random.random,
    ) -> None:
        self._engine = Engine(
            max_retries=count("max_retries", max_retries),
            initial_delay=initial_delay,
            backoff_factor=backoff_factor,
            max_delay=max_delay,
            jitter=jitter,
            budget=budget,
            max_types=count("max_types", max_types),
            forget_after=forget_after,
        )
        self._budget = budget
        self._clock = clock
        self._random = random

    @property
    def budget(self) -> float | None:
        """Seconds after the first call beyond which no retry begins."""
        return self._budget

    def handle(
        self, error: BaseException, context: ErrorContext, *, elapsed: float = 0.0
    ) -> Retry | GiveUp:
        """Decide whether to retry after a failure.

        Args:
            error: What was raised; its `retryable`, `retry_after`, `delay_multiplier` and
                `status_code` are used if present.
            context: What was being done; its `retry_count` is used.
            elapsed: Seconds since the first call of the operation.
        """
        failure = failure_of(error)
        retry, reason = self._engine.handle(
            failure.names,
            status=failure.status,
            retryable=failure.retryable,
            retry_after=failure.retry_after,
            delay_multiplier=failure.delay_multiplier,
            retries=context.retry_count,
            now=now(self._clock),
            elapsed=elapsed,
            random=self._random(),
        )
        if retry is not None:
            return Retry(*retry)
        return _GIVE_UPS[reason]

    def frequency(self) -> dict[str, int]:
        """Return how often each type of error occurred recently, the latest type last."""
        return dict(self._engine.frequency(now(self._clock)))
