"""What the turns of a conversation used, added up."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from amplifier_app.dollars import dollars
from amplifier_providers.running.count_noun import count_noun

if TYPE_CHECKING:
    from amplifier_agent import Result, TokenUsage


class TurnSums:
    """Adds up tokens, model calls and costs."""

    def __init__(self) -> None:
        self._usage: TokenUsage | None = None
        self._cost: Decimal | None = Decimal(0)
        self._calls = 0
        self._turns = 0

    def add(self, result: Result | None) -> None:
        """Count a turn; one that did not begin is None."""
        if result is None:
            return
        self._turns += 1
        self._calls += result.model_calls
        self._usage = result.usage if self._usage is None else self._usage + result.usage
        if result.cost is None and result.model_calls:
            self._cost = None
        if result.cost is not None and self._cost is not None:
            self._cost += result.cost

    def line(self) -> str:
        """Return the sums in one line."""
        if self._usage is None:
            return "nothing so far"
        usage = self._usage
        read = usage.input + usage.cache_read + usage.cache_write
        cached = f" ({usage.cache_read / read:.0%} cached)" if read and usage.cache_read else ""
        parts = (
            f"{read:,} tokens in{cached}",
            f"{usage.output + usage.reasoning:,} out",
            count_noun(self._calls, "model call"),
            count_noun(self._turns, "turn"),
            "the price is not known" if self._cost is None else dollars(self._cost),
        )
        return ", ".join(parts)
