"""What answers use and cost: the counts of the decoder, the `Usage` of the kernel, and that of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, Usage

from ..prices.admission import Admission, Payer
from ..prices.amounts import TokenCount, read_count, sum_counts
from ..prices.pricing import Pricing
from .body import WireRequest
from .errors import was_sent

if TYPE_CHECKING:
    from amplifier_stream import StreamResult


_READ = ("input_tokens", "cache_read_tokens", "cache_write_tokens")
_WRITTEN = ("output_tokens", "reasoning_tokens")


def priced_usage(
    result: StreamResult,
    pricing: Pricing,
    models: tuple[str, ...],
    details: Mapping[str, Any],
    *,
    is_whole: bool = True,
) -> Usage | None:
    """Return what one answer used and cost, and add that to what the provider was paid.

    Args:
        result: The answer.
        pricing: The prices of the provider.
        models: The names of the model, the best known first.
        details: What else the service reported of the answer.
        is_whole: Whether the answer came to its end, so that both its sides have to be counted.
    """
    buckets = result.usage
    cost = pricing.add_cost(buckets, result.raw_usage, models, details, is_whole=is_whole)
    return gross_usage(buckets, cost)


def gross_usage(buckets: dict[str, int | None], cost: Decimal | None = None) -> Usage | None:
    """Add up the decoder's disjoint buckets; None where the service counted nothing.

    `input_tokens` of the result is all that the model read, cached or not, and `output_tokens`
    all that it wrote, thinking included.
    """
    counts = {name: read_count(count) for name, count in buckets.items()}
    if all(count is None for count in counts.values()) and not cost:
        return None
    entered = sum_counts(counts.get(name) for name in _READ)
    produced = sum_counts(counts.get(name) for name in _WRITTEN)
    return Usage(
        input_tokens=entered,
        output_tokens=produced,
        total_tokens=sum_counts((entered, produced)),
        reasoning_tokens=counts.get("reasoning_tokens"),
        cache_read_tokens=counts.get("cache_read_tokens"),
        cache_write_tokens=counts.get("cache_write_tokens"),
        cost_usd=cost,
    )


def reported_counts(
    buckets: Mapping[str, int | None],
) -> tuple[TokenCount | None, TokenCount | None]:
    """Return what an answer read and what it wrote, as far as the service reports it.

    A side whose first count is not known is not known.
    """
    entered, produced = (
        [read_count(buckets.get(name)) for name in names] for names in (_READ, _WRITTEN)
    )
    return (
        None if entered[0] is None else sum_counts(entered),
        None if produced[0] is None else sum_counts(produced),
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
        if key == "cost_usd":
            sums[key] = sum(known, Decimal(0)) if len(known) == len(parts) else None
        else:
            sums[key] = sum_counts(known) if known else None
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


class CallUsage:
    """Admits each request of a call before it is sent, and counts its answer."""

    def __init__(
        self, payer: Payer, request: ChatRequest, longest_answer: Callable[[str], int]
    ) -> None:
        """Take who pays, and what is asked, as `Admission` does."""
        self._payer = payer
        self._admission = Admission(payer, request, longest_answer)
        self._parts: list[Usage | None] = []
        self.details: dict[str, Any] = {}
        """What else the service says of the answers."""

    async def admit(self, encoded: WireRequest) -> None:
        """Have the next request admitted, each attempt by itself, and its answer limited.

        Raises:
            NoRoomError: Too little is left to pay for it.
        """
        await self._admission.admit(encoded)

    def add(self, encoded: WireRequest, result: StreamResult) -> None:
        """Count a whole answer."""
        usage = self._price_usage(encoded, result)
        self._parts.append(usage)
        cost = None if usage is None else usage.cost_usd
        counts = reported_counts(result.usage)
        self._admission.settle(encoded.model, *counts, cost, result.usage)

    def drop_attempt(self, error: LLMError) -> None:
        """Count a request that failed: as what is held back for it, unless it was refused."""
        self._admission.drop_answer(may_cost=error.status_code is None and was_sent(error))

    def drop_answer(self, encoded: WireRequest, result: StreamResult) -> None:
        """Count an answer that did not come to its end: what was counted of it was paid for."""
        self._admission.drop_answer(may_cost=True)
        if any(count is not None for count in result.usage.values()):
            self._parts.append(self._price_usage(encoded, result, is_whole=False))

    def add_up(self) -> Usage | None:
        """Return what all answers used; None if nothing was counted."""
        return sum_usage(self._parts)

    def failure_payload(self) -> dict[str, Any]:
        """Return the usage of a call without a response, where anything was counted."""
        usage = self.add_up()
        return {"usage": usage_payload(usage)} if usage else {}

    def _price_usage(
        self, encoded: WireRequest, result: StreamResult, *, is_whole: bool = True
    ) -> Usage | None:
        payer, details = self._payer, result.metadata
        self.details.update(details)
        models = payer.priced_as(encoded.model, result.model)
        return priced_usage(result, payer.pricing, models, details, is_whole=is_whole)
