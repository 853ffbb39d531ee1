"""A cache that keeps the beginning of each prompt by itself, as OpenAI's does.

What a prompt has in common with one before it comes from the cache, in steps of 128 tokens and from
1,024 on. What the service counted of a whole prompt is known; what of it is common to a prompt that
goes on otherwise lies between bounds, and is expected only where both mean the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from typing_extensions import override

from .forecast import CacheRule, Forecast
from .prompt import Prompt

LEAST_TOKENS = 1_024
STEP_TOKENS = 128
SURE_SECONDS = 300.0
"""How long something is kept at least after its last use."""
MOST_SECONDS = 3_600.0
"""And at most."""
EXTENDED_SECONDS = 86_400.0
"""Both, where the request asks for a day."""
_MARGIN = 1.0
"""Seconds that a request may be on its way."""
_MOST_PROMPTS = 64
_FORM_TOKENS = 64
"""The most tokens that a service adds to a block by itself."""


@dataclass(slots=True, eq=False)
class _AutomaticForecast(Forecast):
    cache: AutomaticCache
    prompt: Prompt
    sent: float
    ends: list[tuple[int, int]]
    """Counts of blocks of which the tokens are known."""
    tokens: int | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    total: int | None = None
    """The tokens of the prompt; None as long as nobody knows."""
    until: float = 0.0
    """Until then it is surely kept."""
    latest: float = math.inf
    """After that it is surely gone."""

    @override
    def settle(self, read: int, written: int, total: int, now: float) -> None:
        self.cache.settle(self, total, now)

    @override
    def fail(self, now: float) -> None:
        self.cache.settle(self, None, now)

    @override
    def drop(self) -> None:
        self.cache.drop(self)


class AutomaticCache(CacheRule):
    """What is known of the cache."""

    def __init__(self) -> None:
        """Begin with nothing in it."""
        super().__init__()
        self._sent: list[_AutomaticForecast] = []
        """The last prompts, the latest last; those without `until` are on their way."""

    @override
    def send(self, prompt: Prompt, now: float) -> Forecast:
        forecast = _AutomaticForecast(self, prompt, now, [])
        with self._lock:
            self._sent = [each for each in self._sent if each.latest >= now]
            least = most = 0.0
            shared = [
                (each, common)
                for each in self._sent
                if (common := _count_common(each.prompt.chain, prompt.chain))
            ]
            for each, common in shared:
                ends = [end for end in each.ends if end[0] <= common]
                forecast.ends = max(forecast.ends, ends, key=len)
            for each, common in shared:
                low, high = _measure_common(each, forecast, common, now)
                least, most = max(least, low), max(most, high)
                if (
                    each.until == 0.0
                    and each.tokens is not None
                    and _count_steps(high) > each.tokens
                ):
                    each.tokens = None  # what is sent now may be read first
            if _count_steps(least) == _count_steps(most) and not prompt.forgets_thoughts:
                forecast.tokens = int(_count_steps(least))
            self._sent = [*self._sent[1 - _MOST_PROMPTS :], forecast]
        return forecast

    def settle(self, forecast: _AutomaticForecast, total: int | None, now: float) -> None:
        """Learn what the service counted; None where it counted nothing."""
        prompt = forecast.prompt
        with self._lock:
            is_extended = prompt.lasts == "24h"
            forecast.latest = now + (EXTENDED_SECONDS if is_extended else MOST_SECONDS)
            forecast.until = forecast.sent + (EXTENDED_SECONDS if is_extended else SURE_SECONDS)
            if total is None:
                forecast.until = now  # nobody knows whether it was read
                return
            forecast.total = total
            if not prompt.has_tail and not prompt.forgets_thoughts:
                forecast.ends.append((len(prompt.chain), total))
            # Its own beginnings are in it, as long as it is kept at least as long as they.
            self._sent = [
                each for each in self._sent if each is forecast or not _is_within(each, forecast)
            ]

    def drop(self, forecast: _AutomaticForecast) -> None:
        """Forget the request."""
        with self._lock:
            self._sent = [each for each in self._sent if each is not forecast]


def _measure_common(
    known: _AutomaticForecast, forecast: _AutomaticForecast, common: int, now: float
) -> tuple[float, float]:
    """Return how many tokens a new prompt has in common with one before, at least and at most.

    Args:
        known: The prompt before.
        forecast: The new one.
        common: The blocks that they have in common; a part of the next one may be, too.
        now: The time.
    """
    prompt = forecast.prompt
    ends = [each for each in known.ends if each[0] <= common]
    both = (known.prompt, prompt)
    # A token is at least one byte; a part of the block in which they differ may be equal.
    part = min(sum(each.sizes[common : common + 1]) for each in both) + _FORM_TOKENS
    longer = (tokens for end, tokens in (*known.ends, *forecast.ends) if end > common)
    most = min(
        math.inf if known.total is None else known.total,
        sum(prompt.sizes[:common]) + _FORM_TOKENS * common + part,
        min(longer, default=math.inf),
    )
    least = ends[-1][1] if ends else 0
    if ends and ends[-1][0] == common:
        is_whole = any(common == len(each.chain) and not each.has_tail for each in both)
        most = min(most, least if is_whole else least + part)
    return (least if known.until >= now + _MARGIN else 0), most


def _is_within(one: _AutomaticForecast, other: _AutomaticForecast) -> bool:
    length = len(one.prompt.chain)
    return (
        one.until > 0.0
        and not one.prompt.has_tail
        and one.total is not None
        and one.until <= other.until
        and length <= len(other.prompt.chain)
        and one.prompt.chain[-1] == other.prompt.chain[length - 1]
        and (length, one.total) in other.ends
    )


def _count_common(one: list[bytes], other: list[bytes]) -> int:
    """Return how many blocks two chains have in common: each hash is that of all before it, too."""
    low, high = 0, min(len(one), len(other))
    if high and one[high - 1] == other[high - 1]:
        return high
    while low < high:
        middle = (low + high) // 2
        if one[middle] == other[middle]:
            low = middle + 1
        else:
            high = middle
    return low


def _count_steps(tokens: float) -> float:
    """Return the tokens that come from the cache, of those that could."""
    if tokens < LEAST_TOKENS or math.isinf(tokens):
        return 0 if tokens < LEAST_TOKENS else math.inf
    return tokens // STEP_TOKENS * STEP_TOKENS
