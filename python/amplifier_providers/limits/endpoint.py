"""What the mounts of one endpoint share in a process: breakers, what is left of limits, overloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from amplifier_guard import CircuitBreaker

MAX_LIMITS = 64
"""Limits of one endpoint that are kept."""


@dataclass(frozen=True)
class KnownLimit:
    """How much of a rate limit of the service was left at its last report."""

    limit: float
    remaining: float
    reset: float
    """When it is whole again, in seconds since the epoch."""
    noted: float
    """When the service reported it, in seconds since the epoch."""

    @property
    def share(self) -> float:
        """The part that is left, from 0 to 1."""
        return self.remaining / self.limit if self.limit > 0 else 1.0


class Endpoint:
    """An address that is called with one key; found by `endpoint_of`, alive while somebody has it."""

    def __init__(self, name: str) -> None:
        """Know nothing about it yet.

        Args:
            name: What distinguishes it from others, without its key.
        """
        self.name = name
        self.limits: dict[str, KnownLimit] = {}
        """What is left of its rate limits, by what they limit."""
        self.overloaded: dict[str, float] = {}
        """Its overloaded models, each with the moment until which it is not asked."""
        self._breakers: WeakValueDictionary[tuple[object, ...], CircuitBreaker] = (
            WeakValueDictionary()
        )
        self._lock = Lock()

    def find_breaker(
        self, failures: int, recovery: float, clock: Callable[[], float]
    ) -> CircuitBreaker:
        """Return the circuit breaker of all mounts with these settings."""
        from amplifier_guard.breaker import CircuitBreaker

        key = (failures, recovery, clock)
        with self._lock:
            known = self._breakers.get(key)
            if known is None:
                known = CircuitBreaker(failures=failures, recovery=recovery, clock=clock)
                self._breakers[key] = known
            return known

    def note(self, limits: dict[str, KnownLimit]) -> None:
        """Keep what is newer than what is known."""
        with self._lock:
            self.limits = newest_of(self.limits, limits)


def newest_of(
    known: Mapping[str, KnownLimit], more: Mapping[str, KnownLimit]
) -> dict[str, KnownLimit]:
    """Return the last report of each limit; `MAX_LIMITS` of them, as a server may name any."""
    both = dict(known)
    for kind, limit in more.items():
        if kind not in both or both[kind].noted <= limit.noted:
            both.pop(kind, None)
            both[kind] = limit
    latest = sorted(both.items(), key=lambda each: each[1].noted)[-MAX_LIMITS:]
    return dict(latest)


@lru_cache(maxsize=128)
def _split_address(address: str) -> tuple[str | None, str]:
    """Return the host of an address, and what distinguishes it; each session asks for it again."""
    parts = urlsplit(address)
    return parts.hostname, f"{parts.scheme}://{parts.netloc.lower()}{parts.path}"


def _make_name(address: str, secrets: Iterable[str]) -> str:
    # Not cached: a cache would keep keys that nobody uses any more.
    host, place = _split_address(address)
    digest = sha256("\0".join([place, *secrets]).encode()).hexdigest()[:32]
    return f"{host}:{digest}"


_known: WeakValueDictionary[str, Endpoint] = WeakValueDictionary()
_lock = Lock()


def endpoint_of(address: str, secrets: Iterable[str]) -> Endpoint:
    """Return the endpoint of an address and its keys: one object for all mounts in this process."""
    name = _make_name(address, secrets)
    with _lock:
        known = _known.get(name)
        if known is None:
            known = _known[name] = Endpoint(name)
        return known
