"""A call that is cancelled at any of its awaits leaves nothing behind that stops the next one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio
from services import ANSWER, REQUEST, Hooks, Service, Time

from amplifier_core import CancellationToken
from amplifier_core.llm_errors import AbortError, ProviderUnavailableError
from amplifier_providers.retries import Retries, RetrySettings
from amplifier_providers.wire.provider import WireProvider
from amplifier_testing.kit.base import wait_until
from amplifier_testing.servers import Fault, ModelServer

LOW = {
    "x-ratelimit-limit-requests": "1000",
    "x-ratelimit-remaining-requests": "1",
    "x-ratelimit-reset-requests": "60",
}
FAILS = Fault(status=500, headers=LOW)


class CancelledAt(Coroutine[Any, Any, object]):
    """A coroutine whose task is cancelled at one of its awaits.

    Whatever wakes the task reaches what it awaits, exceptions too: `anyio` ends waits with them.
    """

    def __init__(self, awaited: Coroutine[Any, Any, object], at: int) -> None:
        self.awaited = awaited
        self.at = at
        self.awaits = 0

    def __await__(self) -> Generator[Any, Any, object]:
        return self.awaited.__await__()

    def send(self, value: Any) -> Any:
        return self._waiting(self.awaited.send(value))

    def throw(self, *error: Any) -> Any:
        return self._waiting(self.awaited.throw(*error))

    def close(self) -> None:
        self.awaited.close()

    def _waiting(self, waits: Any) -> Any:
        self.awaits += 1
        if self.awaits == self.at:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        return waits


class CancelAt(trio.abc.Instrument):
    """Cancels the steps of the task that makes it, at one of them."""

    def __init__(self, scope: trio.CancelScope, at: int) -> None:
        self.scope, self.at, self.steps = scope, at, 0
        self.task = trio.lowlevel.current_task()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if task is self.task:
            self.steps += 1
            if self.steps == self.at:
                self.scope.cancel()


async def cancelled(call: Callable[[], Coroutine[Any, Any, object]], at: int) -> bool:
    """Cancel a call at one of its awaits; False if it has no more."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        scope = trio.CancelScope()
        instrument = CancelAt(scope, at)
        with scope:
            trio.lowlevel.add_instrument(instrument)
            try:
                await call()
            finally:
                trio.lowlevel.remove_instrument(instrument)
        return instrument.steps >= at
    wrapped = CancelledAt(call(), at)
    try:
        await asyncio.create_task(wrapped)
    except asyncio.CancelledError:
        return True
    return wrapped.awaits >= at


class Place:
    """A provider whose calls are limited in every way, and its server."""

    def __init__(self, service: Service, server: ModelServer, path: Path) -> None:
        self.server, self.time, self.path = server, Time(), path
        settings = RetrySettings(
            max_retries=2, retry_jitter=False, breaker_failures=3, breaker_recovery=60.0
        )
        retries = Retries(service.name, settings, Hooks(), None, self.time.clock, self.time.sleep)
        self.provider: Any = service.provider(
            Hooks(),
            retries,
            base_url=server.url,
            timeout=20,
            max_concurrent_requests=1,
            rate_limit_state_path=str(path),
        )

    @property
    def breaker(self) -> Any:
        return self.provider._retries._judged_by().breaker

    def script(self, *faults: Fault | None) -> None:
        self.server.faults, self.server.answers = list(faults), [ANSWER] * 9

    async def call(self) -> None:
        provider: WireProvider = self.provider
        await provider.complete(REQUEST)

    async def pieces(self) -> None:
        provider: WireProvider = self.provider
        async for _ in provider.chunks(REQUEST):
            pass

    async def is_whole(self) -> None:
        """Calls go on as before: there is a place, no trial is under way, and no lock is held."""
        # Twice: the request of the cancelled call may still be on its way.
        self.script(Fault(headers=LOW), Fault(headers=LOW))
        with anyio.fail_after(30):
            await self.call()
            assert self.breaker.state == "closed"
            [limits] = json.loads(self.path.read_bytes()).values()
            assert "requests" in limits
            # No request of before takes what the next call is to get.
            await self.provider.close()
            assert await wait_until(lambda: self.server.connections == 0)


# Holds: failure-17
@pytest.mark.parametrize("what", ["call", "pieces"])
async def test_of_a_retried_call_nothing_is_left(
    service: Service, what: str, tmp_path: Path
) -> None:
    with service.server() as server:
        place = Place(service, server, tmp_path / "limits.json")
        at, is_cancelled = 1, True
        while is_cancelled:
            place.script(FAILS, FAILS, Fault(headers=LOW))
            is_cancelled = await cancelled(getattr(place, what), at)
            await place.is_whole()
            at += 1 + at // 8
        assert at > 15
        await place.provider.close()


async def test_of_a_trial_nothing_is_left(service: Service, tmp_path: Path) -> None:
    with service.server() as server:
        place = Place(service, server, tmp_path / "limits.json")
        at, is_cancelled = 1, True
        while is_cancelled:
            place.script(FAILS, FAILS, FAILS)
            with pytest.raises(ProviderUnavailableError):
                await place.call()
            assert place.breaker.state == "open"
            place.time.now += 60 * 10**9
            assert place.breaker.state == "half_open"
            place.script(Fault(headers=LOW))
            is_cancelled = await cancelled(place.call, at)
            assert place.breaker.wait() == 0
            await place.is_whole()
            at += 1 + at // 8
        assert at > 8
        await place.provider.close()


async def test_the_cancellation_of_a_session_ends_a_wait_for_the_limits(
    service: Service, tmp_path: Path
) -> None:
    with service.server() as server:
        place = Place(service, server, tmp_path / "limits.json")
        token = CancellationToken()
        place.provider._retries._cancellation = token
        place.script(Fault(headers=LOW), None)
        await place.call()
        token.request_graceful()
        with pytest.raises(AbortError, match="cancelled while waiting to call"):
            await place.call()
        assert len(server.requests) == 1
        await place.provider.close()
