"""What turns used, as a person reads it: tokens, calls and money."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from amplifier_providers.running.count_noun import count_noun

if TYPE_CHECKING:
    from amplifier_agent import Result, TokenUsage
    from amplifier_agent.prompt_cache import PromptCacheUse

_CENT, _SMALLEST = Decimal("0.01"), Decimal("0.0001")
_ROUNDING = Context(prec=50, rounding=ROUND_HALF_UP)


def write_dollars(amount: Decimal) -> str:
    """`$0.0042`, `$1.37`, `$0`; what is less than it can show is `<$0.0001`."""
    if not amount:
        return "$0"
    if amount < _SMALLEST:
        return f"<${_SMALLEST}"
    return f"${amount.quantize(_CENT if amount >= 1 else _SMALLEST, context=_ROUNDING):,f}"


class TurnSums:
    """Adds up tokens, model calls and costs."""

    def __init__(self) -> None:
        self._usage: TokenUsage | None = None
        self._cost: Decimal | None = Decimal(0)
        self._calls = 0
        self._turns = 0
        self._cache: PromptCacheUse | None = None

    def add(self, result: Result | None) -> None:
        """Count a turn; one that did not begin is None."""
        if result is None:
            return
        self._turns += 1
        self._calls += result.model_calls
        cache = result.prompt_cache
        self._cache = cache if self._cache is None else self._cache + cache
        self._usage = result.usage if self._usage is None else self._usage + result.usage
        if result.cost is None and result.model_calls:
            self._cost = None
        if result.cost is not None and self._cost is not None:
            self._cost += result.cost

    def write_line(self) -> str:
        """Return the sums in one line."""
        if self._usage is None:
            return "no tokens so far"
        usage = self._usage
        read = usage.input + usage.cache_read + usage.cache_write
        cached = f" ({usage.cache_read / read:.0%} cached)" if read and usage.cache_read else ""
        parts = (
            f"{read:,} tokens in{cached}",
            f"{usage.output + usage.reasoning:,} out",
            count_noun(self._calls, "model call"),
            count_noun(self._turns, "turn"),
            "the price is not known" if self._cost is None else write_dollars(self._cost),
        )
        return ", ".join(parts)

    def write_lines(self) -> list[str]:
        """Return the sums, and what is known of the caches of the services, a line each."""
        lines, cache = [self.write_line()], self._cache
        if cache is not None and cache.predicted_calls:
            lines.append(
                f"cache: {cache.predicted_read:,} tokens, {cache.predicted:,} predicted by the"
                f" service's rule for {count_noun(cache.predicted_calls, 'call')}"
            )
        if cache is not None and cache.prefix_changes:
            cost = cache.paid_again_cost
            dollars = "" if cost is None else f", {write_dollars(cost)}"
            lines.append(
                f"{count_noun(cache.prefix_changes, 'request')} did not begin with the one before:"
                f" {cache.paid_again:,} tokens paid again{dollars}"
            )
        return lines
