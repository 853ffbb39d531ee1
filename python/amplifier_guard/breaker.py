"""The circuit breaker: stops calling a service for a while after repeated failures."""

from __future__ import annotations

from typing import TypeAlias

from typing_extensions import override

from amplifier_core._engine import CircuitBreaker
from amplifier_guard._clock import in_seconds
from amplifier_guard.guard_error import GuardError

__all__ = ["CircuitBreaker", "CircuitOpen", "Permit"]

Permit: TypeAlias = int
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
