"""How many calls go out at once, and the wait before one when little of a rate limit is left."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from pydantic import TypeAdapter

from amplifier_core._kernel import sleep as waiting
from amplifier_core.events import PROVIDER_THROTTLE

from .events import PROVIDER_CONCURRENCY
from .rate_limits import RateLimit, rate_limits
from .settings import HttpSettings

logger = logging.getLogger(__name__)

_State = dict[str, dict[str, tuple[float, float, float | None]]]
_STATE: TypeAdapter[_State] = TypeAdapter(_State)


class Load:
    """The calls of one provider: how many run, and what is left of its rate limits.

    Args:
        provider: The provider's name.
        settings: `max_concurrent_requests`, `throttle_threshold`, `throttle_delay` and
            `rate_limit_state_path`.
        emit: Tells the hooks.
        now: Returns the current time, in seconds since the epoch.
        sleep: Waits for a number of seconds.
    """

    def __init__(
        self,
        provider: str,
        settings: HttpSettings,
        emit: Callable[[str, dict[str, Any]], Awaitable[None]],
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = waiting.sleep,
    ) -> None:
        self._provider = provider
        self._settings = settings
        self._emit = emit
        self._now = now
        self._sleep = sleep
        self._slots: anyio.Semaphore | None = None
        self._waiting = 0
        self._limits: dict[str, RateLimit] = {}
        path = settings.rate_limit_state_path
        self._path = None if path is None else Path(path).expanduser()

    def note(self, headers: Mapping[str, str]) -> None:
        """Keep what the headers of an answer say; other processes see it if there is a file."""
        limits = rate_limits(headers, self._now)
        if not limits:
            return
        self._limits.update({limit.kind: limit for limit in limits})
        if self._path is not None:
            self._write(self._path)

    async def enter(self, model: str) -> None:
        """Take a place among the calls that run at once; wait for one, and for the rate limits."""
        most = self._settings.max_concurrent_requests
        if most is not None:
            if self._slots is None:
                self._slots = anyio.Semaphore(most)
            if self._slots.value == 0:
                self._waiting += 1
                data = {"provider": self._provider, "model": model, "limit": most}
                await self._emit(PROVIDER_CONCURRENCY, {**data, "waiting": self._waiting})
                try:
                    await self._slots.acquire()
                finally:
                    self._waiting -= 1
            else:
                await self._slots.acquire()
        try:
            await self._throttle(model)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Give the place back."""
        if self._slots is not None:
            self._slots.release()

    async def _throttle(self, model: str) -> None:
        """Wait where less than the threshold of a limit is left."""
        threshold, longest = self._settings.throttle_threshold, self._settings.throttle_delay
        if self._path is not None:
            self._read(self._path)
        now = self._now()
        scarce = [
            limit
            for limit in self._limits.values()
            if limit.share < threshold and (limit.reset is None or limit.reset > now)
        ]
        if not scarce or not longest:
            return
        least = min(scarce, key=lambda limit: limit.share)
        delay = longest if least.reset is None else min(longest, least.reset - now)
        reason = f"{least.remaining:g} of {least.limit:g} {least.kind} left"
        await self._emit(
            PROVIDER_THROTTLE,
            {"provider": self._provider, "model": model, "delay": delay, "reason": reason},
        )
        await self._sleep(delay)

    def _read(self, path: Path) -> None:
        known = _state(path).get(self._provider, {})
        self._limits.update({kind: RateLimit(kind, *values) for kind, values in known.items()})

    def _write(self, path: Path) -> None:
        state = _state(path)
        state[self._provider] = {
            limit.kind: (limit.limit, limit.remaining, limit.reset)
            for limit in self._limits.values()
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.name}.{os.getpid()}")
            new.write_bytes(_STATE.dump_json(state))
            new.replace(path)
        except OSError as error:
            logger.warning("rate limits are not shared: `%s`: %s", path, error.strerror)


def _state(path: Path) -> _State:
    """Return what the file says; nothing if it is absent or of another form."""
    try:
        return _STATE.validate_json(path.read_bytes())
    except (OSError, ValueError):
        return {}
