"""Connections that outlive sessions: each event loop shares its own among all who call an address."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import anyio

from ..running.loop_end import run_at_end, run_later, running_loop
from .http_client import KEPT_SECONDS, MAX_KEPT, Route, open_client

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

MAX_CALLS = MAX_KEPT
"""Calls of one pool at once: for each of them it looks at all of its connections."""
_MAX_EXIT_SECONDS = 1.0


class Pool:
    """Some of the connections of one route."""

    __slots__ = ("calls", "client", "idle_since")

    def __init__(self, route: Route) -> None:
        """Make a client; nothing is connected yet.

        Raises:
            ImportError, ValueError, OSError, InvalidURL: The proxies or certificates of the
                environment cannot be used.
        """
        self.client: httpx2.AsyncClient = open_client(route)
        self.calls = 0
        """How many requests have not been answered to their end."""
        self.idle_since = 0.0
        """When the last of them ended, by the clock of the event loop."""


class _Shared:
    """The pools of one route, and who uses them."""

    __slots__ = ("pools", "users")

    def __init__(self) -> None:
        self.pools: list[Pool] = []
        self.users: WeakSet[object] = WeakSet()


class LoopPools:
    """The pools of one event loop, which alone can use them."""

    def __init__(self) -> None:
        """Begin with none; those that there will be are closed with the loop."""
        self._routes: dict[Route, _Shared] = {}
        self._is_closing_later = False
        self._at_end: object = run_at_end(self._close_at_end)

    def take(self, route: Route, user: object) -> Pool:
        """Return a pool with room for a further call, which `leave` ends.

        Args:
            route: Where the call goes.
            user: Who calls; it uses the route until `release`.

        Raises:
            ImportError, ValueError, OSError, InvalidURL: The proxies or certificates of the
                environment cannot be used.
        """
        shared = self._routes.get(route)
        if shared is None:
            shared = self._routes[route] = _Shared()
        pool = next((each for each in shared.pools if each.calls < MAX_CALLS), None)
        if pool is None:
            pool = Pool(route)
            shared.pools.append(pool)
        shared.users.add(user)
        pool.calls += 1
        return pool

    def leave(self, pool: Pool) -> None:
        """End a call; a pool without calls is closed after `KEPT_SECONDS`."""
        pool.calls -= 1
        if pool.calls == 0:
            pool.idle_since = anyio.current_time()
            if not self._is_closing_later:
                self._is_closing_later = True
                run_later(KEPT_SECONDS, self._close_idle)

    def release(self, route: Route, user: object) -> bool:
        """Note that somebody uses a route no more; return whether nobody else does."""
        shared = self._routes.get(route)
        if shared is None:
            return False
        shared.users.discard(user)
        return not shared.users

    async def close(self) -> None:
        """Close all connections, those of running calls too."""
        pools = [pool for shared in self._routes.values() for pool in shared.pools]
        self._routes.clear()
        await _close_all(pools)

    async def close_unused(self, only: Route | None = None) -> None:
        """Close the pools that have no calls.

        Args:
            only: Those of this route; None for all.
        """
        await self._close_since(anyio.current_time(), only)

    async def _close_at_end(self) -> None:
        await self.close()
        with _lock:
            _of_loops.pop(running_loop(), None)
        self._at_end = None  # it refers to the loop, which would stay

    async def _close_idle(self) -> None:
        now = anyio.current_time()
        await self._close_since(now - KEPT_SECONDS)
        pools = [pool for shared in self._routes.values() for pool in shared.pools]
        idle = [pool.idle_since for pool in pools if pool.calls == 0]
        self._is_closing_later = bool(idle)
        if idle:
            run_later(max(min(idle) + KEPT_SECONDS - now, 0.0), self._close_idle)

    async def _close_since(self, moment: float, only: Route | None = None) -> None:
        """Close the pools that have had no calls since a moment."""
        closing: list[Pool] = []
        for route in list(self._routes) if only is None else [only]:
            shared = self._routes.get(route, _Shared())
            ended = [pool for pool in shared.pools if not pool.calls and pool.idle_since <= moment]
            closing += ended
            shared.pools = [pool for pool in shared.pools if pool not in ended]
            if not shared.pools:
                self._routes.pop(route, None)
        await _close_all(closing)


async def _close_all(pools: Iterable[Pool]) -> None:
    with anyio.CancelScope(shield=True):
        for pool in pools:
            try:
                await pool.client.aclose()
            except Exception as error:  # noqa: BLE001 -- nobody is there to hear of it
                logger.debug("a connection was not closed: %s", error)


_of_loops: WeakKeyDictionary[Any, LoopPools] = WeakKeyDictionary()
_lock = Lock()
_of_parent: list[LoopPools] = []
"""What a process had when it was forked: the connections are those of its parent, which uses them."""


def loop_pools() -> LoopPools:
    """Return the pools of the event loop that runs here."""
    loop = running_loop()
    with _lock:
        pools = _of_loops.get(loop)
        if pools is None:
            for other in list(_of_loops):
                # What a loop of asyncio has open refers to the loop, which would stay for ever.
                if getattr(other, "is_closed", bool)():
                    del _of_loops[other]
            pools = _of_loops[loop] = LoopPools()
    return pools


async def close_connections() -> None:
    """Close the connections to services that this event loop keeps and that no call uses.

    That happens by itself after a minute without a request, and at the end of the loop.
    """
    await loop_pools().close_unused()


def _leave_to_parent() -> None:
    global _lock
    _lock = Lock()
    _of_parent.extend(_of_loops.values())
    _of_loops.clear()


def _close_at_exit() -> None:
    """Close what loops of asyncio have that were not closed themselves."""
    import asyncio

    for loop, pools in list(_of_loops.items()):
        if getattr(loop, "is_closed", lambda: True)():
            continue
        with suppress(Exception):
            if loop.is_running():
                asyncio.run_coroutine_threadsafe(pools.close(), loop).result(_MAX_EXIT_SECONDS)
            else:
                loop.run_until_complete(pools.close())


atexit.register(_close_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
