"""A model call that is under way, and what is held back for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import TracebackType
from typing import Any, Protocol, Self, cast

from amplifier_providers.prices.allowance import CALL_ALLOWANCE
from amplifier_providers.prices.amounts import (
    NOTHING,
    Estimate,
    Spent,
    TokenCount,
    read_count,
    read_dollars,
    sum_counts,
)
from amplifier_providers.prices.call_bound import CallBound


class Books(Protocol):
    """What keeps account of model calls under way: a ledger."""

    def exchange(self, held: Estimate, bound: CallBound) -> Estimate:
        """Hold back what a request may use in the place of what is held.

        Raises:
            NoRoomError: Too little is left.
        """
        ...

    def count(self, held: Estimate, spent: Spent) -> None:
        """Count what was spent in the place of what is held."""
        ...

    def end_call(self, held: Estimate, spent: Spent | None) -> None:
        """End a model call; None for one that is not counted."""
        ...


class Reservation:
    """A model call that is under way: `with reservation:` is the call.

    Within it `settle` says what it used. A call that fails counts as nothing, one that is cancelled
    as what is held back for it: it may have to be paid. Where the provider asks for each request,
    as an `Allowance`, the requests are counted in the place of the call.
    """

    def __init__(self, estimate: Estimate, books: Books, *, is_limited: bool = True) -> None:
        """Begin a call; `Ledger.reserve` does this.

        Args:
            estimate: What is held back.
            books: What counts it.
            is_limited: Whether tokens or cost are limited, so that each request has to be admitted.
        """
        self._held = estimate
        self._books = books
        self._is_limited = is_limited
        self._around = CALL_ALLOWANCE.get()
        self._is_over = False
        self._has_requests = False

    async def admit(self, bound: CallBound) -> int:
        """Hold back what a request may use; return the tokens that its answer may have.

        Raises:
            NoRoomError: Too little is left for its answer.
        """
        self._has_requests = True
        return self.hold(bound)

    def hold(self, bound: CallBound) -> int:
        """Hold back what the only request of the call may use; otherwise like `admit`."""
        self._held = self._books.exchange(self._held, bound)
        return self._held.output_tokens

    def settle(
        self,
        input_tokens: TokenCount | None,
        output_tokens: TokenCount | None,
        cost: Decimal | None,
        counts: Mapping[str, int | None] | None = None,
    ) -> None:
        """Count what the admitted request used; None counts as what is held back for it."""
        del counts
        spent = _sum_spent(self._held, input_tokens, output_tokens, cost)
        held, self._held = self._held, NOTHING
        if not self._is_over:
            self._books.count(held, spent)

    def settle_call(self, usage: Any, *, answer_tokens: Callable[[], int] = lambda: 0) -> None:
        """Count the `usage` of the response, and end the call.

        Args:
            usage: What the provider reports; it may be of any type.
            answer_tokens: Estimates the tokens of the answer, which count where neither their
                number is reported nor anything is held back for them.
        """
        if self._has_requests:
            self._end(Spent())
            return
        entered, produced = (_count(usage, name) for name in ("input_tokens", "output_tokens"))
        if produced is None and not self._held.output_tokens:
            produced = read_count(answer_tokens())
        reported = entered is not None and produced is not None
        cost = _read_field(usage, "cost_usd")
        dollars = read_dollars(cost) if isinstance(cost, Decimal) else None
        is_known = reported and cost is None
        self._end(_sum_spent(self._held, entered, produced, dollars, is_priced=not is_known))

    def __enter__(self) -> Self:
        """Begin the call."""
        CALL_ALLOWANCE.set(self if self._is_limited else None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the call, unless it is settled."""
        # Not reset by a token: what is left behind may be closed in another context.
        CALL_ALLOWANCE.set(self._around)
        if error is not None and not isinstance(error, Exception):
            self._end(Spent(self._held.tokens, self._held.cost))
        else:
            self._end(None)

    def _end(self, spent: Spent | None) -> None:
        if not self._is_over:
            self._is_over = True
            held, self._held = self._held, NOTHING
            self._books.end_call(held, spent)


def _sum_spent(
    held: Estimate,
    entered: TokenCount | None,
    produced: TokenCount | None,
    cost: Decimal | None,
    *,
    is_priced: bool = True,
) -> Spent:
    """Return what was spent; what is not reported counts as what is held back for it.

    Args:
        held: What is held back.
        entered: Tokens read.
        produced: Tokens written.
        cost: US dollars.
        is_priced: Whether the cost that is held back may count in the place of one not reported.
    """
    if entered is None:
        entered = TokenCount(held.tokens - held.output_tokens)
    if produced is None:
        produced = TokenCount(held.output_tokens)
    if cost is None and is_priced and (held.is_priced or held.cost > 0):
        cost = held.cost
    return Spent(sum_counts((entered, produced)), cost)


def _count(usage: Any, name: str) -> TokenCount | None:
    return read_count(_read_field(usage, name))


def _read_field(usage: Any, name: str) -> Any:
    if isinstance(usage, Mapping):
        return cast("Mapping[str, Any]", usage).get(name)
    return getattr(usage, name, None)
