"""The rate limit of a provider, shared by all its models in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from threading import Lock

from pydantic import Field

from amplifier_core import world
from amplifier_guard import Rate, RateLimited, RateLimiter
from amplifier_providers.running.closing import closing
from amplifier_providers.settings import Settings

from ..step import Call, Piece, Step
from ..types import LLMResponse
from .layer import Layer

_MOST_REQUESTS = 1_000_000

_limiters: dict[str, tuple[Rate, RateLimiter]] = {}
"""The limiter of each provider, and its rate."""
_choosing = Lock()


class RateLimitSettings(Settings):
    """How many requests a provider gets."""

    requests_per_minute: int = Field(default=60, ge=1, le=_MOST_REQUESTS)
    """Requests in a minute, retries included; further ones wait."""
    burst_capacity: int | None = Field(default=None, ge=1, le=_MOST_REQUESTS)
    """Requests at once after a pause; without it, as many as in a minute."""


class RateLimitLayer(Layer):
    """Lets a request wait until its provider may be asked.

    All models of a provider share one limit, which is that of the model that was loaded last.

    Args:
        beneath: What is asked for the answer.
        settings: How many requests.
        clock: Returns the current time in seconds.
        sleep: Waits some seconds.
    """

    def __init__(
        self,
        beneath: Step,
        settings: RateLimitSettings,
        *,
        clock: Callable[[], float] = world.monotonic,
        sleep: Callable[[float], Awaitable[object]] = world.sleep,
    ) -> None:
        super().__init__(beneath)
        self._rate = Rate(settings.requests_per_minute, 60.0, settings.burst_capacity)
        self._clock = clock
        self._sleep = sleep
        with _choosing:
            known = _limiters.get(self.name)
            if known is None or known[0] != self._rate:
                _limiters[self.name] = (self._rate, self._new_limiter())

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer, once the provider may be asked."""
        await self._wait_for_turn(call)
        return await self.beneath.complete(call)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, once the provider may be asked."""
        await self._wait_for_turn(call)
        async with closing(self.beneath.stream(call)) as pieces:
            async for piece in pieces:
                yield piece

    async def _wait_for_turn(self, call: Call) -> None:
        limiter = self._find_limiter()
        while True:
            try:
                limiter.take(provider=self.name)
            except RateLimited as refusal:
                wait = refusal.retry_after
            else:
                return
            waited = call.notes.get("rate_limit_wait_seconds", 0.0)
            call.notes["rate_limit_wait_seconds"] = waited + wait
            await self._sleep(wait)

    def _find_limiter(self) -> RateLimiter:
        if (known := _limiters.get(self.name)) is None:
            with _choosing:
                known = _limiters.setdefault(self.name, (self._rate, self._new_limiter()))
        return known[1]

    def _new_limiter(self) -> RateLimiter:
        return RateLimiter(provider=self._rate, clock=self._clock)


def clear_limits() -> None:
    """Forget how much each provider was asked."""
    with _choosing:
        _limiters.clear()
