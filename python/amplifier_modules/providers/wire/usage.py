"""Token counts: the decoder's disjoint buckets, and the sums that the kernel's `Usage` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from amplifier_core.message_models import Usage

from ..prices.pricing import Pricing

if TYPE_CHECKING:
    from amplifier_stream import StreamResult


def priced_usage(
    result: StreamResult, pricing: Pricing, models: tuple[str, ...], details: Mapping[str, Any]
) -> Usage | None:
    """Return what one answer used and cost, and add that to what the provider was paid.

    Args:
        result: The answer.
        pricing: The prices of the provider.
        models: The names of the model, the best known first.
        details: What else the service said of the answer.
    """
    buckets = result.usage
    return gross_usage(buckets, pricing.cost(buckets, result.raw_usage, models, details))


def gross_usage(buckets: dict[str, int | None], cost: Decimal | None = None) -> Usage | None:
    """Add up the decoder's disjoint buckets; None where the service counted nothing.

    `input_tokens` of the result is all that the model read, cached or not, and `output_tokens`
    all that it wrote, thinking included.
    """
    if all(count is None for count in buckets.values()) and not cost:
        return None
    read, written = buckets.get("cache_read_tokens"), buckets.get("cache_write_tokens")
    reasoning = buckets.get("reasoning_tokens")
    entered = (buckets.get("input_tokens") or 0) + (read or 0) + (written or 0)
    produced = (buckets.get("output_tokens") or 0) + (reasoning or 0)
    return Usage(
        input_tokens=entered,
        output_tokens=produced,
        total_tokens=entered + produced,
        reasoning_tokens=reasoning,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cost_usd=cost,
    )


def sum_usage(parts: Sequence[Usage | None]) -> Usage | None:
    """Add up the usage of several answers.

    A count is unknown where all of them are; the cost is, where one of them is.
    """
    counted = [part for part in parts if part is not None]
    if len(parts) == 1 or not counted:
        return counted[0] if counted else None
    sums: dict[str, Any] = {}
    for key in Usage.model_fields:
        known = [value for part in counted if (value := getattr(part, key)) is not None]
        is_sum = known if key != "cost_usd" else len(known) == len(parts)
        sums[key] = sum(known[1:], known[0]) if is_sum else None
    return Usage(**sums)


def usage_payload(usage: Usage) -> dict[str, int | str]:
    """Return `usage` in the key names of the event `llm:response`; what is unknown is left out.

    The cost is text, so that it stays exact.
    """
    keys = (
        "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
        "reasoning_tokens",
    )  # fmt: skip
    payload: dict[str, int | str] = {
        key: count for key in keys if (count := getattr(usage, key)) is not None
    }
    if usage.cost_usd is not None:
        payload["cost_usd"] = str(usage.cost_usd)
    return payload
