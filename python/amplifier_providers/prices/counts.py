"""What one call used, in the kinds that have prices of their own, and what the service charged."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple, cast

_TICK = Decimal("1E-10")
"""The dollars of one of the ticks in which xAI counts."""


class Counts(NamedTuple):
    """Disjoint counts: each token is in one of them, and so is paid for once."""

    input: int = 0
    """Tokens read that no cache knew."""
    cache_read: int = 0
    cache_write: int = 0
    """Tokens written to a cache for five minutes, or for as long as the service likes."""
    cache_write_1h: int = 0
    """Tokens written to a cache for an hour."""
    output: int = 0
    """Tokens written, without reasoning."""
    reasoning: int = 0
    web_searches: int = 0
    """Searches that the service did by itself."""


def counts_of(buckets: Mapping[str, int | None], raw: dict[str, Any] | None) -> Counts:
    """Return what a call used.

    Args:
        buckets: The decoder's disjoint buckets.
        raw: Usage as the service counts it, which counts an hour in the cache apart from five minutes.
    """
    entered, read = buckets.get("input_tokens") or 0, buckets.get("cache_read_tokens") or 0
    written, output = buckets.get("cache_write_tokens") or 0, buckets.get("output_tokens") or 0
    reasoning = buckets.get("reasoning_tokens") or 0
    hour = searches = 0
    if raw:
        if written > 0:
            hour = _count_within(raw.get("cache_creation"), "ephemeral_1h_input_tokens")
            hour = min(hour, written)
        if "server_tool_use" in raw:
            searches = _count_within(raw["server_tool_use"], "web_search_requests")
    if entered < 0 or read < 0 or written < 0 or output < 0 or reasoning < 0:
        # A broken server may count below nothing; no call is paid back.
        entered, read, output = max(entered, 0), max(read, 0), max(output, 0)
        written, reasoning = max(written, 0), max(reasoning, 0)
    # `Counts(…)` takes a tenth of what the whole accounting of a call does.
    counts = entered, read, written - hour, hour, output, reasoning, searches
    return tuple.__new__(Counts, counts)  # pyright: ignore[reportUnknownMemberType] -- of a tuple


def charged_dollars(raw: dict[str, Any] | None) -> Decimal | None:
    """Return the dollars that the service says it charged; None where it does not say.

    OpenRouter has `cost`, and beside it what a key of the user's own paid elsewhere; Perplexity has
    a `total_cost` within it; xAI counts in ticks.
    """
    if not raw:
        return None
    cost = raw.get("cost")
    if cost is None:
        ticks = raw.get("cost_in_usd_ticks")
        number = None if ticks is None else _read_number(ticks)
        return None if number is None else number * _TICK
    if isinstance(cost, dict):
        return _read_number(cast("dict[str, Any]", cost).get("total_cost"))
    sum_charged = _read_number(cost)
    if sum_charged is not None and raw.get("is_byok") is True:
        details = raw.get("cost_details")
        of_key = cast("dict[str, Any]", details) if isinstance(details, dict) else {}
        sum_charged += _read_number(of_key.get("upstream_inference_cost")) or 0
    return sum_charged


def _count_within(counts: Any, name: str) -> int:
    try:
        count = counts[name]
    except (KeyError, TypeError):
        return 0
    return count if type(count) is int and count > 0 else 0


def _read_number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = Decimal(repr(value))
    return number if number.is_finite() and number >= 0 else None
