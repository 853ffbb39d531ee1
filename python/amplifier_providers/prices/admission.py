"""How the requests of one call are admitted, each before it is sent, and counted when they are over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from amplifier_core.message_models import ChatRequest

from .allowance import CALL_ALLOWANCE, Allowance
from .amounts import TokenCount
from .input_bound import InputCounts
from .pricing import Pricing
from .request_bound import answer_limit, limit_answer, request_bound


class SentRequest(Protocol):
    """A request as it is sent."""

    model: str
    fields: dict[str, Any]

    def to_bytes(self) -> bytes:
        """Return its body."""
        ...

    def degrade(self, requested: str, actual: str, reason: str) -> None:
        """Note that something is not done as requested."""
        ...


@dataclass(frozen=True, slots=True)
class Payer:
    """What a provider knows of the price of its calls."""

    pricing: Pricing
    inputs: InputCounts
    """What the service counted of the last requests."""
    limit_key: str
    """Where the body of a request limits the answer."""
    priced_as: Callable[[str, str | None], tuple[str, ...]]
    """Returns the names under which a model, asked and answered, may have a price."""


class Admission:
    """Has each request of a call admitted by the allowance of the place where it is sent."""

    def __init__(
        self, payer: Payer, request: ChatRequest, longest_answer: Callable[[str], int]
    ) -> None:
        """Take who pays, and what is asked.

        Args:
            payer: What its provider knows of prices.
            request: What is asked.
            longest_answer: Returns the tokens of the longest answer of a model where a request
                names no limit.
        """
        self._payer = payer
        self._request = request
        self._longest_answer = longest_answer
        self._allowance = CALL_ALLOWANCE.get()
        """What admits its requests; None for no limit."""
        self._is_admitted = False
        """Whether the request that is sent next or is on its way is admitted."""
        self._size = 0
        """The bytes of that request."""

    async def admit(self, sent: SentRequest) -> None:
        """Have a request admitted, unless it is, and its answer limited to what is paid for.

        Raises:
            NoRoomError: Too little is left to pay for it.
        """
        allowance = self._allowance
        if allowance is None or self._is_admitted:
            return
        payer, body = self._payer, sent.fields
        longest = answer_limit(body)
        if longest is None:
            longest = self._longest_answer(sent.model)
            # Before its bytes are counted, which a lower limit makes fewer.
            limit_answer(body, payer.limit_key, longest)
        content = sent.to_bytes()
        self._size = len(content)
        if body.get("previous_response_id"):
            # The service has kept the conversation, and reads it again.
            self._size += sum(len(each.model_dump_json()) for each in self._request.messages)
        most = await allowance.admit(
            request_bound(
                body,
                sent.model,
                self._request,
                self._size,
                longest,
                payer.inputs,
                payer.pricing,
                payer.priced_as(sent.model, None),
                keeps_hour=b'"ttl":"1h"' in content,
            )
        )
        self._is_admitted = True
        if most < longest:
            self._limit(sent, longest, most)

    def settle(
        self,
        model: str,
        input_tokens: TokenCount | None,
        output_tokens: TokenCount | None,
        cost: Decimal | None,
        counts: Mapping[str, int | None],
    ) -> None:
        """Count what the admitted request used; None counts as what is held back for it."""
        if (allowance := self._take_admitted()) is None:
            return
        allowance.settle(input_tokens, output_tokens, cost, counts)
        if input_tokens is not None:
            self._payer.inputs.note(self._request, model, self._size, input_tokens)

    def drop_answer(self, *, may_cost: bool) -> None:
        """Count an admitted request without a whole answer.

        Args:
            may_cost: Whether it may have to be paid, so that what is held back for it counts.
        """
        if (allowance := self._take_admitted()) is None:
            return
        if may_cost:
            allowance.settle(None, None, None)
        else:
            allowance.settle(TokenCount(0), TokenCount(0), Decimal(0))

    def _take_admitted(self) -> Allowance | None:
        """Return what has admitted the request that is over; None if nothing has."""
        is_admitted, self._is_admitted = self._is_admitted, False
        return self._allowance if is_admitted else None

    def _limit(self, sent: SentRequest, longest: int, most: int) -> None:
        thinking = limit_answer(sent.fields, self._payer.limit_key, most)
        if thinking is not None:
            left = "no thinking"
            if "thinking" in sent.fields:
                left = f"at most {sent.fields['thinking']['budget_tokens']:,} tokens"
            sent.degrade(
                f"a thinking budget of {thinking:,} tokens",
                left,
                f"the answer may have {most:,} tokens",
            )
        sent.degrade(
            f"an answer of {longest:,} tokens",
            f"at most {most:,} tokens",
            "the budget pays for no more",
        )
