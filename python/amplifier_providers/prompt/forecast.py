"""What a published rule says of a request: the tokens that the service reads from its cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Lock
from weakref import WeakKeyDictionary

from ..limits.endpoint import Endpoint
from .prompt import Prompt


class Forecast(ABC):
    """One request that was sent; either `settle` or `fail` ends it."""

    tokens: int | None = None
    """The tokens that come from the cache; None where the counts so far do not say it."""

    @abstractmethod
    def settle(self, read: int, written: int, total: int, now: float) -> None:
        """Learn from what the service counted.

        Args:
            read: Tokens from the cache.
            written: Tokens written to the cache.
            total: All tokens of the request.
            now: The time, in seconds.
        """

    @abstractmethod
    def fail(self, now: float) -> None:
        """Note that nobody knows what the service kept of the request."""

    @abstractmethod
    def drop(self) -> None:
        """Note that the service refused the request, and kept nothing."""


class CacheRule(ABC):
    """The cache of one service, as far as the requests of this process say what is in it."""

    reads_settings = False
    """Whether another `tool_choice` or way to think is another beginning of the messages."""

    def __init__(self) -> None:
        """Begin with nothing in it."""
        self._lock = Lock()

    @abstractmethod
    def send(self, prompt: Prompt, now: float) -> Forecast:
        """Note that a request is sent at a time; return what is expected of it."""


_rules: WeakKeyDictionary[Endpoint, dict[type[CacheRule], CacheRule]] = WeakKeyDictionary()
_lock = Lock()


def rule_of(endpoint: Endpoint, kind: type[CacheRule]) -> CacheRule:
    """Return the cache at an endpoint, which all sessions of this process share."""
    with _lock:
        rules = _rules.setdefault(endpoint, {})
        known = rules.get(kind)
        if known is None:
            known = rules[kind] = kind()
        return known
