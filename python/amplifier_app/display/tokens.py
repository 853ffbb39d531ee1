"""The tokens of a turn, added up over its model calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from amplifier_modules.counted import counted


class TokenCount:
    """Adds up the `usage` of `llm:response` events.

    `input_tokens` includes the tokens read from and written to the cache.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._sums: dict[str, int] = {}

    def add(self, usage: object) -> None:
        """Count one model call; numbers that are missing stay unknown."""
        self._calls += 1
        if isinstance(usage, Mapping):
            for name, value in cast("Mapping[str, object]", usage).items():
                if isinstance(value, int):
                    self._sums[name] = self._sums.get(name, 0) + value

    def line(self, tool_calls: int) -> str:
        """Tokens in and out, cached and thinking tokens if known; empty if nothing is known."""
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
        parts.append(counted(self._calls, "model call"))
        if tool_calls:
            parts.append(counted(tool_calls, "tool"))
        return " · ".join(parts)
