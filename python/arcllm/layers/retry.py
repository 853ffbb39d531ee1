"""Retries of a call, by the rules of the guard."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Annotated, TypeVar

from pydantic import Field

from amplifier_core import world
from amplifier_guard import ErrorContext, ErrorHandler, Retry, guarded_call
from amplifier_providers.running.closing import closing
from amplifier_providers.settings import Settings

from ..exceptions import ArcLLMAPIError
from ..step import Call, Piece, Step
from ..types import LLMResponse
from .layer import Layer, begin

T = TypeVar("T")

_CENTRE = 1.5
_SPREAD = 1 / 3
"""A wait of the guard around 1.5 times the base, with this spread: from the base to twice the base."""


class RetrySettings(Settings):
    """How often a failed call is made again, and after which waits."""

    max_retries: int = Field(default=3, ge=0, le=100)
    """Calls after the first one, at most; 0 never retries."""
    backoff_base_seconds: float = Field(default=1.0, gt=0, le=3600)
    """The first wait lasts as long as this, and at random up to twice as long; each further one is
    twice as long."""
    max_wait_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """Seconds that a wait may last, unless the service asks for a longer one."""
    total_seconds: float = Field(default=600.0, gt=0, le=86_400)
    """Seconds after the first call beyond which no retry begins. Where a service wants to be left
    alone for longer, its error is raised at once, with `retry_after`."""
    retry_codes: list[Annotated[int, Field(ge=100, le=599)]] | None = None
    """The HTTP statuses that are retried; without it those that the guard deems temporary: 408, 429
    unless a quota is used up, and 500 to 599. Lost connections and timeouts are always retried."""


class RetryLayer(Layer):
    """Makes a failed call again, if that may help.

    A stream is begun again only while nothing of it was shown.

    Args:
        beneath: What is asked for the answer.
        settings: How often, and after which waits.
        clock: Returns the current time in seconds.
        sleep: Waits some seconds.
        random: Returns a number from 0 to 1.
    """

    def __init__(
        self,
        beneath: Step,
        settings: RetrySettings,
        *,
        clock: Callable[[], float] = world.monotonic,
        sleep: Callable[[float], Awaitable[object]] = world.sleep,
        random: Callable[[], float] = world.random,
    ) -> None:
        super().__init__(beneath)
        self._codes = None if settings.retry_codes is None else frozenset(settings.retry_codes)
        self._clock = clock
        self._sleep = sleep
        self._handler = ErrorHandler(
            max_retries=settings.max_retries,
            initial_delay=settings.backoff_base_seconds * _CENTRE,
            max_delay=settings.max_wait_seconds / (1 + _SPREAD),
            jitter=_SPREAD,
            budget=settings.total_seconds,
            clock=clock,
            random=random,
        )

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer, of the first call that succeeds."""
        return await self._retry(call, lambda: self.beneath.complete(call))

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, of the first call that yields anything."""
        pieces, first = await self._retry(call, lambda: begin(self.beneath, call))
        async with closing(pieces):
            yield first
            async for piece in pieces:
                yield piece

    async def _retry(self, call: Call, operation: Callable[[], Awaitable[T]]) -> T:
        async def attempt() -> T:
            try:
                return await operation()
            except ArcLLMAPIError as error:
                if self._codes is not None and error.status_code is not None:
                    error.retryable = error.status_code in self._codes
                raise

        async def note(retry: Retry, error: Exception) -> None:
            del error
            call.notes["retries"] = retry.attempt

        return await guarded_call(
            attempt,
            ErrorContext(operation=f"call of {self.name}"),
            handler=self._handler,
            on_retry=note,
            clock=self._clock,
            sleep=self._sleep,
        )
