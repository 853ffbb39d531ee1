"""What the requests of one call may use, and what its answers used and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, Usage

from ..prices.admission import Admission, Payer
from .body import WireRequest
from .errors import was_sent
from .usage import priced_usage, reported_counts, sum_usage, usage_payload

if TYPE_CHECKING:
    from amplifier_stream import StreamResult


class CallUsage:
    """Admits each request of a call before it is sent, and counts its answer."""

    def __init__(self, payer: Payer, request: ChatRequest) -> None:
        """Take who pays, and what is asked."""
        self._payer = payer
        self._admission = Admission(payer, request)
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
        usage = self._price(encoded, result)
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
            self._parts.append(self._price(encoded, result, is_whole=False))

    def total(self) -> Usage | None:
        """Return what all answers used; None if nothing was counted."""
        return sum_usage(self._parts)

    def failure_payload(self) -> dict[str, Any]:
        """Return the usage of a call without a response, where anything was counted."""
        usage = self.total()
        return {"usage": usage_payload(usage)} if usage else {}

    def _price(
        self, encoded: WireRequest, result: StreamResult, *, is_whole: bool = True
    ) -> Usage | None:
        payer, details = self._payer, result.metadata
        self.details.update(details)
        models = payer.priced_as(encoded.model, result.model)
        return priced_usage(result, payer.pricing, models, details, is_whole=is_whole)
