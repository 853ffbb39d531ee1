"""A cache that keeps prompts up to marked blocks, as Anthropic's does.

What stands before a mark is written, and what an earlier request has written is looked for from each
mark backwards. Nothing is kept below a minimum size: which prompts are too small, the counts say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from typing_extensions import override

from .forecast import CacheRule, Forecast
from .prompt import Prompt

LOOK_BACK = 20
"""Blocks that are looked at from a mark backwards, the marked one among them."""
SECONDS = 300.0
"""How long something is kept after its last use."""
_MARGIN = 1.0
"""Seconds that a request may be on its way."""
_MOST = 4_096
_KEEPS_THOUGHTS = re.compile(r"claude-(opus-4-[5-9]|[a-z]+-4-[6-9]|[a-z]+-[5-9])|mythos")
"""The models that read the thoughts of earlier turns, too."""


@dataclass(slots=True)
class _Kept:
    """What the service keeps of prompts up to a block."""

    tokens: int | None
    until: float
    """Until then it is surely kept."""
    latest: float
    """After that it is surely gone."""
    is_sure: bool = True
    """Whether it was written at all."""


@dataclass(slots=True, eq=False)
class _MarkedForecast(Forecast):
    cache: MarkedCache
    sent: float
    marks: list[bytes]
    """The beginnings that end at the marks, the shortest first."""
    is_readable: bool = True
    """Whether the service reads the blocks as they are sent."""
    tokens: int | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    found: bytes | None = None
    """The longest beginning that is thought to be kept."""
    missed: set[bytes] = field(default_factory=set[bytes])
    """What was looked for before it."""
    is_clear: bool = True
    """Whether nothing else can have been found."""

    @override
    def settle(self, read: int, written: int, total: int, now: float) -> None:
        self.cache.settle(self, read, written, now)

    @override
    def fail(self, now: float) -> None:
        self.cache.fail(self, now)

    @override
    def drop(self) -> None:
        self.cache.drop(self)


class MarkedCache(CacheRule):
    """What is known of the cache."""

    reads_settings = True

    def __init__(self) -> None:
        """Begin with nothing in it."""
        super().__init__()
        self._kept: dict[bytes, _Kept] = {}
        self._small: dict[bytes, None] = {}
        """Beginnings that are too small to be kept."""
        self._open: list[_MarkedForecast] = []
        """The requests that are on their way."""

    @override
    def send(self, prompt: Prompt, now: float) -> Forecast:
        chain = prompt.chain
        forecast = _MarkedForecast(self, now, [chain[mark] for mark in prompt.marks])
        with self._lock:
            self._look(forecast, prompt, now)
            if prompt.forgets_thoughts and not _KEEPS_THOUGHTS.search(prompt.model):
                forecast.tokens, forecast.is_readable = None, False
            for other in self._open:
                if not forecast.missed.isdisjoint(other.marks):
                    forecast.tokens, forecast.is_clear = None, False
                if not other.missed.isdisjoint(forecast.marks):
                    other.tokens, other.is_clear = None, False
            self._open.append(forecast)
        return forecast

    def _look(self, forecast: _MarkedForecast, prompt: Prompt, now: float) -> None:
        """Look for the longest beginning that is kept."""
        forecast.tokens = 0
        for each in _list_places(prompt):
            digest = prompt.chain[each]
            kept = self._kept.get(digest)
            if kept is None or kept.latest < now:
                if digest not in self._small:
                    forecast.missed.add(digest)
                continue
            if not kept.is_sure or kept.until < now + _MARGIN:
                forecast.tokens, forecast.is_clear = None, False
                return
            forecast.found, forecast.tokens = digest, kept.tokens
            return

    def settle(self, forecast: _MarkedForecast, read: int, written: int, now: float) -> None:
        """Learn from what the service counted."""
        if not forecast.is_readable:
            self.fail(forecast, now)
            return
        with self._lock:
            self._close(forecast)
            until, latest = forecast.sent + SECONDS, now + SECONDS
            found, marks = forecast.found, forecast.marks
            if found is not None and forecast.is_clear:
                is_small = not read and forecast.tokens is None
                self._learn(found, read, until, latest)
                if is_small:  # and so is all that is shorter
                    self._add_small(marks[: marks.index(found) + 1] if found in marks else [found])
            if read + written == 0:
                self._add_small(marks)
                return
            for place, digest in enumerate(marks):
                if digest in self._small:
                    continue
                is_last = place == len(marks) - 1
                kept = self._kept.pop(digest, None)
                tokens = read + written if is_last else None if kept is None else kept.tokens
                self._keep(digest, _Kept(tokens, until, latest))

    def _learn(self, found: bytes, read: int, until: float, latest: float) -> None:
        kept = self._kept.get(found)
        if kept is None:
            return
        if read and kept.tokens in {None, read}:
            kept.tokens, kept.until, kept.latest = read, until, latest
        else:  # the service has lost it
            del self._kept[found]

    def fail(self, forecast: _MarkedForecast, now: float) -> None:
        """Note that the request may have been read, or not."""
        with self._lock:
            self._close(forecast)
            touched = [*forecast.marks, *([forecast.found] if forecast.found else [])]
            for digest in touched:
                kept = self._kept.get(digest)
                if kept is not None:
                    kept.latest = max(kept.latest, now + SECONDS)
                elif digest not in self._small:
                    self._keep(digest, _Kept(None, now, now + SECONDS, is_sure=False))

    def drop(self, forecast: _MarkedForecast) -> None:
        """Forget the request."""
        with self._lock:
            self._close(forecast)

    def _close(self, forecast: _MarkedForecast) -> None:
        self._open = [each for each in self._open if each is not forecast]

    def _keep(self, digest: bytes, kept: _Kept) -> None:
        if len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        self._kept[digest] = kept

    def _add_small(self, digests: Iterable[bytes]) -> None:
        for digest in digests:
            if len(self._small) >= _MOST:
                del self._small[next(iter(self._small))]
            self._small[digest] = None
            self._kept.pop(digest, None)


def _list_places(prompt: Prompt) -> Iterator[int]:
    """Yield the blocks that are looked at, in their order, each once."""
    after = len(prompt.chain)
    for mark in reversed(prompt.marks):
        place, looked = mark, 0
        while place >= 0 and looked < LOOK_BACK:
            if place not in prompt.settings:
                looked += 1
                if place < after:
                    after = place
                    yield place
            place -= 1
