"""How many calls go out at once, and the wait before one when little of a rate limit is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import anyio.to_thread

from amplifier_core import world
from amplifier_core.events import PROVIDER_THROTTLE

from ..limits.endpoint import Endpoint, KnownLimit
from ..limits.places import Place, Places
from ..limits.rate_file import RateFile
from ..limits.rate_limits import rate_limits
from .events import PROVIDER_CONCURRENCY, Emit
from .settings import HttpSettings

_UNKNOWN_RESET_SECONDS = 60.0
"""After how long a limit counts as whole again that does not say when: most are of a minute."""


class Load:
    """The calls of one provider: how many run, and what is left of the limits of its endpoint.

    Args:
        provider: The provider's name.
        settings: `max_concurrent_requests`, `throttle_threshold`, `throttle_delay` and
            `rate_limit_state_path`.
        endpoint: What is called; its other mounts know the same limits.
        emit: Emits an event.
        now: Returns the current time, in seconds since the epoch.
        sleep: Waits for a number of seconds.
    """

    def __init__(
        self,
        provider: str,
        settings: HttpSettings,
        endpoint: Endpoint,
        emit: Emit,
        now: Callable[[], float] = world.time,
        sleep: Callable[[float], Awaitable[object]] = world.sleep,
    ) -> None:
        self._provider = provider
        self._settings = settings
        self._endpoint = endpoint
        self._emit = emit
        self._now = now
        self._sleep = sleep
        self._places = Places(settings.max_concurrent_requests)
        path = settings.rate_limit_state_path
        self._file = None if path is None else RateFile(path)

    async def note(self, headers: Mapping[str, str]) -> None:
        """Keep what the headers of an answer say; other processes see it if there is a file."""
        limits = rate_limits(headers, self._now)
        if not limits:
            return
        now = self._now()
        known = {
            each.kind: KnownLimit(
                each.limit,
                each.remaining,
                now + _UNKNOWN_RESET_SECONDS if each.reset is None else each.reset,
                now,
            )
            for each in limits
        }
        self._endpoint.note(known)
        if self._file is not None:
            # In a thread: the disk may be slow, and another process may hold the lock.
            await anyio.to_thread.run_sync(
                self._file.write, self._endpoint.name, known, now, abandon_on_cancel=True
            )

    async def enter(self, model: str) -> Place:
        """Return a place among the calls that run at once; wait for one, and for the rate limits."""
        place = self._places.ask()
        try:
            if not place.is_given:
                await self._emit(
                    PROVIDER_CONCURRENCY,
                    {
                        "provider": self._provider,
                        "model": model,
                        "limit": self._settings.max_concurrent_requests,
                        "waiting": self._places.waiting,
                    },
                )
                await place.wait_until_given()
            await self._throttle(model)
        except BaseException:
            place.leave()
            raise
        return place

    async def _throttle(self, model: str) -> None:
        """Wait where less than the threshold of a limit is left."""
        threshold, longest = self._settings.throttle_threshold, self._settings.throttle_delay
        if not threshold or not longest:
            return
        name, now = self._endpoint.name, self._now()
        if self._file is not None:
            known = await anyio.to_thread.run_sync(
                self._file.read, name, now, abandon_on_cancel=True
            )
            self._endpoint.note(known)
        scarce = [
            (kind, limit)
            for kind, limit in list(self._endpoint.limits.items())
            if limit.share < threshold and limit.reset > now
        ]
        if not scarce:
            return
        kind, least = min(scarce, key=lambda each: each[1].share)
        delay = min(longest, least.reset - now)
        reason = f"{least.remaining:g} of {least.limit:g} {kind} left"
        await self._emit(
            PROVIDER_THROTTLE,
            {"provider": self._provider, "model": model, "delay": delay, "reason": reason},
        )
        await self._sleep(delay)
