"""The tokens of a turn and what they cost, added up over its model calls."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import cast

from amplifier_app.usage import write_dollars
from amplifier_providers.prices.amounts import read_count, read_dollars, sum_counts
from amplifier_providers.running.count_noun import count_noun


class TokenCount:
    """Adds up the `usage` of `llm:response` events.

    `input_tokens` includes the tokens read from and written to the cache.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._sums: dict[str, int] = {}
        self._cost: Decimal | None = Decimal(0)

    def add(self, usage: object) -> None:
        """Count one model call; numbers that are missing stay unknown."""
        self._calls += 1
        if not isinstance(usage, Mapping):
            return
        counts = cast("Mapping[str, object]", usage)
        for name, value in counts.items():
            if (count := read_count(value)) is not None:
                self._add_tokens(name, count)
        self._add_cost(counts.get("cost_usd"))

    def add_task(self, data: Mapping[str, object]) -> None:
        """Count what a sub-agent used, by the event `task:end`."""
        calls, usage = data.get("model_calls"), data.get("usage")
        if not isinstance(calls, int) or not isinstance(usage, Mapping):
            return
        self._calls += calls
        for name, value in cast("Mapping[str, object]", usage).items():
            count = read_count(value)
            if count is not None and (count or name in self._sums):
                self._add_tokens(name, count)
        if calls or data.get("unpriced_calls"):
            self._add_cost(None if data.get("unpriced_calls") else data.get("cost_usd"))

    def _add_cost(self, cost: object) -> None:
        """Add the dollars of a call; one without a price makes the sum unknown."""
        added = read_dollars(cost)
        self._cost = None if self._cost is None or added is None else self._cost + added

    def _add_tokens(self, name: str, count: int) -> None:
        self._sums[name] = sum_counts(map(read_count, (self._sums.get(name, 0), count)))

    def write_line(self, tool_calls: int) -> str:
        """Tokens in and out, cached and thinking tokens and the cost if known.

        It is empty if nothing is known; what costs nothing has no cost in it.
        """
        parts: list[str] = []
        read, written = self._sums.get("input_tokens"), self._sums.get("output_tokens")
        if read is not None:
            cached = self._sums.get("cache_read_tokens")
            share = f" ({cached / read:.0%} cached)" if cached is not None and read else ""
            parts.append(f"{read:,} tokens in{share}")
        if written is not None:
            thinking = self._sums.get("reasoning_tokens")
            share = f" ({thinking:,} thinking)" if thinking else ""
            parts.append(f"{written:,} out{share}")
        if not parts:
            return ""
        parts.append(count_noun(self._calls, "model call"))
        if tool_calls:
            parts.append(count_noun(tool_calls, "tool"))
        if self._cost:
            parts.append(write_dollars(self._cost))
        return " · ".join(parts)
