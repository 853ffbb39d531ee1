"""Token counts: the decoder's disjoint buckets, and the sums that the kernel's `Usage` has."""

from __future__ import annotations

from amplifier_core.message_models import Usage


def gross_usage(buckets: dict[str, int | None]) -> Usage | None:
    """Add up the decoder's disjoint buckets; None where the service counted nothing.

    `input_tokens` of the result is all that the model read, cached or not, and `output_tokens`
    all that it wrote, thinking included.
    """
    if all(count is None for count in buckets.values()):
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
    )


def usage_payload(usage: Usage) -> dict[str, int]:
    """Return `usage` in the key names of the event `llm:response`; unknown counts are left out."""
    keys = (
        "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
        "reasoning_tokens",
    )  # fmt: skip
    return {key: count for key in keys if (count := getattr(usage, key)) is not None}
