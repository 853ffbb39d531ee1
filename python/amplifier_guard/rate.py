"""Rate limits of users, tools and providers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from amplifier_core._engine import RateLimiter
from amplifier_guard._clock import in_seconds
from amplifier_guard.guard_error import GuardError

__all__ = ["Rate", "RateLimited", "RateLimiter"]


@dataclass(frozen=True, slots=True)
class Rate:
    """How many calls are allowed."""

    limit: int
    """Calls in each period."""
    period: float = 60.0
    """Seconds."""
    burst: int | None = None
    """Calls at once after a pause; None for as many as in a period."""


class RateLimited(GuardError, RuntimeError):
    """A call beyond a rate limit.

    Args:
        scope: Whose limit is reached.
        retry_after: Seconds until the call is allowed, unless another caller is faster.
    """

    def __init__(self, scope: Literal["user", "tool", "provider"], retry_after: float) -> None:
        hint = f"retry in {in_seconds(retry_after)}"
        super().__init__(f"rate limit of this {scope} reached; {hint}", hint=hint)
        self.scope: Literal["user", "tool", "provider"] = scope
        self.retry_after = retry_after

    @override
    def __reduce__(self) -> tuple[type[RateLimited], tuple[str, float]]:
        """Pickle the arguments, as the message is made from them."""
        return type(self), (self.scope, self.retry_after)
