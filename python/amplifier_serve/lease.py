"""The leases of a worker: a thread renews them, which a tool that blocks does not stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from amplifier_core import world
from amplifier_modules.stores import (
    Claim,
    StaleOwnerError,
    Store,
    StoreError,
    UnknownSessionError,
)

_RENEWALS = 3
"""How often a lease is renewed before it would end."""
_LOOKS = 4
"""How often it is looked whether one has to be renewed, from one renewal to the next."""


@dataclass(eq=False, slots=True)
class Lease:
    """The right to a session for some time."""

    store: Store
    """Where the session is."""
    claim: Claim
    lose: Callable[[StoreError], object]
    """Called in the thread when another has the session, or may have it."""
    ends: float
    """When it ends, by the clock of `world.monotonic`."""
    renews: float
    """When it is renewed next, by the same clock."""


class LeaseKeeper:
    """Renews leases in a thread of its own; a process that is frozen renews none.

    Args:
        seconds: How long a lease lasts.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._leases: set[Lease] = set()
        self._changing = threading.Lock()
        self._is_ended = False
        self._wake: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    async def end(self) -> None:
        """End the thread, and wait until it has ended."""
        self._is_ended = True
        self._wake()
        await anyio.to_thread.run_sync(self._thread.join)

    def add(self, store: Store, claim: Claim, lose: Callable[[StoreError], object]) -> Lease:
        """Renew a lease from now on that was taken just now."""
        now = world.monotonic()
        lease = Lease(store, claim, lose, now + self._seconds, now + self._seconds / _RENEWALS)
        with self._changing:
            self._leases.add(lease)
        return lease

    def remove(self, lease: Lease) -> None:
        """Renew a lease no longer."""
        with self._changing:
            self._leases.discard(lease)

    def _run(self) -> None:
        asyncio.run(self._renew_all())

    async def _renew_all(self) -> None:
        pause = self._seconds / _RENEWALS / _LOOKS
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(ended.set)
        while not self._is_ended:
            with self._changing:
                waiting = [each for each in self._leases if each.renews <= world.monotonic()]
            async with anyio.create_task_group() as tasks:
                for lease in waiting:
                    tasks.start_soon(self._renew, lease)
            with anyio.move_on_after(pause):
                await ended.wait()

    async def _renew(self, lease: Lease) -> None:
        now = world.monotonic()
        lease.renews = now + self._seconds / _RENEWALS
        try:
            # A store that does not answer must not hold the other leases up, nor this one for ever.
            with anyio.fail_after(self._seconds / _RENEWALS):
                await lease.store.renew(lease.claim, due=world.time() + self._seconds)
        except (StaleOwnerError, UnknownSessionError) as error:
            self._lose(lease, error)
        except (StoreError, TimeoutError) as error:
            # Only where it had ended before: the process may have been frozen meanwhile.
            if now >= lease.ends:
                reason = f"its lease could not be renewed: {error or 'the store does not answer'}"
                self._lose(lease, StoreError(reason))
        else:
            lease.ends = now + self._seconds

    def _lose(self, lease: Lease, error: StoreError) -> None:
        with self._changing:
            if lease not in self._leases:
                return  # given back meanwhile
            self._leases.discard(lease)
        lease.lose(error)
