"""The circuit breaker: stops calling a service for a while after repeated failures."""

from __future__ import annotations

import time
from typing import Literal, NewType, cast

from typing_extensions import override

from amplifier_core._engine import CircuitBreaker as Engine
from amplifier_guard._clock import Clock, in_seconds, now
from amplifier_guard._count import count
from amplifier_guard.guard_error import GuardError

Permit = NewType("Permit", int)
"""Permission to make one call, to be returned with the result of the call."""


class CircuitOpen(GuardError, RuntimeError):
    """A call to a service whose circuit is open.

    Args:
        retry_after: Seconds until the next call is allowed.
    """

    def __init__(self, retry_after: float) -> None:
        hint = f"retry in {in_seconds(retry_after)}"
        super().__init__(f"circuit open after repeated failures; {hint}", hint=hint)
        self.retry_after = retry_after

    @override
    def __reduce__(self) -> tuple[type[CircuitOpen], tuple[float]]:
        """Pickle the argument, as the message is made from it."""
        return type(self), (self.retry_after,)


class CircuitBreaker:
    """Refuses calls to a service that failed several times in a row; safe to share.

    After `recovery` seconds it lets one trial call through: if that succeeds it closes, if that
    fails it stays open for as long again. Calls that began before it last changed its state do not
    count.

    Args:
        failures: Failures in a row that open it.
        recovery: Seconds until the trial; a trial without a result is given up after as long.
        clock: Returns the current time in nanoseconds; a time before the latest one counts as the latest.

    Raises:
        ValueError: A setting is out of range.
    """

    def __init__(
        self, *, failures: int = 5, recovery: float = 60.0, clock: Clock = time.monotonic_ns
    ) -> None:
        self._engine = Engine(count("failures", failures), recovery)
        self._clock = clock

    @property
    def state(self) -> Literal["closed", "open", "half_open"]:
        """`closed` lets calls through, `open` refuses them, `half_open` waits for the trial."""
        state = self._engine.state(now(self._clock))
        return cast(Literal["closed", "open", "half_open"], state)

    def wait(self) -> float:
        """Return the seconds until the next call is allowed, 0 for now."""
        return self._engine.wait(now(self._clock))

    def admit(self) -> Permit:
        """Ask for permission to make a call.

        Raises:
            CircuitOpen: The circuit is open, or a trial is under way.
        """
        permit, wait = self._engine.admit(now(self._clock))
        if permit is None:
            raise CircuitOpen(wait)
        return Permit(permit)

    def succeeded(self, permit: Permit) -> None:
        """Report that the call succeeded, which closes the breaker."""
        self._engine.succeeded(permit)

    def failed(self, permit: Permit) -> None:
        """Report that the call failed, which counts or, in a trial, opens the breaker again."""
        self._engine.failed(permit, now(self._clock))

    def abandoned(self, permit: Permit) -> None:
        """Report that the call ended in a way that says nothing about the service."""
        self._engine.abandoned(permit)
