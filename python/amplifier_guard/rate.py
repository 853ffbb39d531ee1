"""Rate limits of users, tools and providers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, cast

from typing_extensions import override

from amplifier_core._engine import RateLimiter as Engine
from amplifier_guard._clock import Clock, in_seconds, now
from amplifier_guard._count import count
from amplifier_guard.guard_error import GuardError


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


class RateLimiter:
    """Counts calls by user, tool and provider in token buckets; safe to share.

    The arithmetic is exact. The number of names is bounded: when there is no room, a name whose
    bucket is full is forgotten, which loses nothing; while there is none, new names have to wait.

    Args:
        user: Rate of each user; None for no limit.
        tool: Rate of each tool.
        provider: Rate of each provider.
        max_names: Most names that are counted at a time, at least 3.
        clock: Returns the current time in nanoseconds; a time before the latest one counts as the latest.

    Raises:
        ValueError: A setting is out of range.
    """

    def __init__(
        self,
        *,
        user: Rate | None = None,
        tool: Rate | None = None,
        provider: Rate | None = None,
        max_names: int = 10_000,
        clock: Clock = time.monotonic_ns,
    ) -> None:
        self._engine = Engine(
            _limits(user), _limits(tool), _limits(provider), count("max_names", max_names)
        )
        self._clock = clock

    def take(
        self, *, user: str | None = None, tool: str | None = None, provider: str | None = None
    ) -> None:
        """Count one call for each name that is given, or for none of them.

        Raises:
            RateLimited: It would exceed the rate of one of them.
            ValueError: A name is longer than 1024 bytes.
        """
        refusal = self._engine.take(user, tool, provider, now(self._clock))
        if refusal is not None:
            scope, wait = refusal
            raise RateLimited(cast(Literal["user", "tool", "provider"], scope), wait)

    @property
    def names(self) -> int:
        """Number of names that are currently counted."""
        return self._engine.names()


def _limits(rate: Rate | None) -> tuple[int, float, int] | None:
    if rate is None:
        return None
    burst = rate.limit if rate.burst is None else rate.burst
    return count("limit", rate.limit), rate.period, count("burst", burst)
