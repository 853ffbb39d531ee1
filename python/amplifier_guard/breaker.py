"""The circuit breaker: a service that fails again and again is left alone for a while."""

from __future__ import annotations

import time
from typing import Literal, NewType, cast

from amplifier_core._engine import CircuitBreaker as Engine
from amplifier_guard._clock import Clock, now
from amplifier_guard._count import count
from amplifier_guard.guard_error import GuardError

Permit = NewType("Permit", int)
"""The right to make one call, to be given back with how the call ended."""


class CircuitOpen(GuardError, RuntimeError):
    """A call to a service that is left alone for a while.

    Args:
        retry_after: Seconds until a call may be let through.
    """

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"circuit is open: try again in {retry_after:.3f} s")
        self.retry_after = retry_after


class CircuitBreaker:
    """Refuses calls to a service that failed several times in a row; safe to share.

    After some seconds it lets one call through, the trial: if that succeeds it closes, if that
    fails it stays open for as long again. Calls that began before it last changed its state do not
    count.

    Args:
        failures: Failures in a row that open it.
        recovery: Seconds until the trial; a trial that never ends is given up after as long.
        clock: Gives now in nanoseconds; an earlier time counts as the latest seen.

    Raises:
        ValueError: A setting makes no sense.
    """

    def __init__(
        self, *, failures: int = 5, recovery: float = 60.0, clock: Clock = time.monotonic_ns
    ) -> None:
        self._engine = Engine(count("failures", failures), recovery)
        self._clock = clock

    @property
    def state(self) -> Literal["closed", "open", "half_open"]:
        """What it does with the next call: let it through, refuse it, or try one."""
        state = self._engine.state(now(self._clock))
        return cast(Literal["closed", "open", "half_open"], state)

    def wait(self) -> float:
        """Give the seconds until a call is let through, 0 for now."""
        return self._engine.wait(now(self._clock))

    def admit(self) -> Permit:
        """Ask to make a call.

        Raises:
            CircuitOpen: The service is left alone, or a trial is under way.
        """
        permit, wait = self._engine.admit(now(self._clock))
        if permit is None:
            raise CircuitOpen(wait)
        return Permit(permit)

    def succeeded(self, permit: Permit) -> None:
        """Tell that the call succeeded, which closes the breaker."""
        self._engine.succeeded(permit)

    def failed(self, permit: Permit) -> None:
        """Tell that the call failed, which counts or, in a trial, opens the breaker anew."""
        self._engine.failed(permit, now(self._clock))

    def abandoned(self, permit: Permit) -> None:
        """Tell that the call ended in a way that says nothing of the service."""
        self._engine.abandoned(permit)
