"""One call in the file of a budget: what is reserved for its requests, and what it is charged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Self

from amplifier_providers.prices.amounts import TokenCount
from amplifier_providers.prices.call_bound import CallBound

from .access import BudgetAccess
from .account import Account, Limit, dollars_of, micros_of, write_dollars
from .cost import Costs
from .errors import ArcLLMBudgetError
from .settings import BudgetSettings
from .store import BudgetStore, Standing

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Book:
    """What all calls of a layer are written into, and by which rules."""

    settings: BudgetSettings
    costs: Costs
    store: BudgetStore
    access: BudgetAccess
    now: Callable[[], float]
    """Returns the current time, in seconds since the epoch."""
    limits: Callable[[Account], list[Limit]]
    """Returns the limits that hold for an account."""
    on_warning: Callable[[Standing], object] | None
    """Called once for each limit of which the warning part is spent."""


class Charge:
    """What one call is charged. It admits the requests of a call whose provider asks for each.

    What an earlier request of the call has cost stays reserved until the next one is admitted or the
    call is over, when it is written into the file.
    """

    def __init__(self, book: Book, account: Account, model: str) -> None:
        """Begin with nothing reserved.

        Args:
            book: Where it is written.
            account: To whom it is charged.
            model: The model that is asked.
        """
        self._book = book
        self.account = account
        self.model: str = model
        self.limits: list[Limit] = book.limits(account)
        self.has_requests = False
        """Whether requests were admitted, which are counted in the place of the call."""
        self.reserved = 0
        """Millionths of a US dollar for what is under way."""
        self.is_admitted = False
        """Whether there is room for the call as a whole, where nobody asks for its requests."""
        self.is_estimated = False
        """Whether a part of it was not counted, so that what was reserved for it counts."""
        self.is_unpriced = False
        """Whether the price of a part of it is not known, which counts as nothing."""
        self.standings: list[Standing] = []
        """How much of each limit is spent, as it was written last."""
        self.warnings: list[Standing] = []
        """The limits of which somebody is warned because of this call."""
        self.total = 0
        """What it is charged so far."""
        self._is_priced = True
        self._reservation: int | None = None
        self._unwritten = 0
        self._is_under_way = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the same charge: all copies of a call share it."""
        return self

    async def turn_to(self, provider: str, model: str) -> None:
        """Charge another provider from now on; what was reserved is given back."""
        self.is_admitted = False
        await self.write()
        self.account, self.model = replace(self.account, provider=provider), model
        self.limits = self._book.limits(self.account)

    async def reserve(self, provider: str, model: str, micros: int | None) -> None:
        """Reserve what the whole call may cost, and charge this provider if there is room for it.

        Args:
            provider: Who is asked.
            model: The model.
            micros: What the call may cost there; None where its price is not known.

        Raises:
            ArcLLMBudgetError: Too little is left, or nobody knows what it costs.
        """
        before = self.account, self.model, self.limits
        await self.turn_to(provider, model)
        try:
            self._check_price(micros)
            if (full := await self._try(micros or 0)) is not None:
                raise limit_error(full, micros or 0)
        except BaseException:
            self.account, self.model, self.limits = before
            raise
        self.is_admitted = True

    async def admit(self, bound: CallBound) -> int:
        """Reserve what a request may cost; return the tokens that its answer may have.

        Raises:
            ArcLLMBudgetError: Too little is left for the shortest answer, or nobody knows what it
                costs.
        """
        self.has_requests = True
        if self._is_under_way:
            self._count(None)
        await self.write()
        bound = self._book.costs.price_bound(bound, self.account.provider, self.model)
        most = bound.output_tokens
        while True:
            micros = _price_micros(bound, most)
            self._check_price(micros)
            full = await self._try(micros or 0)
            if full is None:
                self._is_under_way = True
                return most
            left = dollars_of(full.limit.micros - full.used)
            most = bound.longest_answer(None, left)
            if most < bound.shortest_answer:
                shortest = _price_micros(bound, bound.shortest_answer) or 0
                answer = f" with an answer of {bound.shortest_answer:,} tokens"
                raise limit_error(full, shortest, answer)

    def settle(
        self,
        input_tokens: TokenCount | None,
        output_tokens: TokenCount | None,
        cost: Decimal | None,
        counts: Mapping[str, int | None] | None = None,
    ) -> None:
        """Count what the admitted request cost; what is not known counts as what is reserved."""
        if None not in (input_tokens, output_tokens) and counts is not None:
            own = self._book.costs.own_cost(counts, self.account.provider, self.model)
            cost = cost if own is None else own
        self._count(None if cost is None else micros_of(cost))

    def charge(self, micros: int | None) -> None:
        """Count what the whole call cost; None where that is not known."""
        self._count(micros)

    def break_off(self) -> None:
        """Count a request under way whose answer nobody will read as what is reserved for it."""
        if self._is_under_way:
            self._count(None)

    async def write(self) -> None:
        """Write into the file what the call has cost, in the place of what is reserved.

        Raises:
            ArcLLMBudgetFileError: The file cannot be used.
        """
        if self._reservation is None and self._unwritten == 0:
            return
        book = self._book
        percent = book.settings.warn_percent
        whose = (self._reservation, self.account, self._unwritten, self.limits)
        settle = partial(book.store.settle, *whose, percent, now=book.now())
        # A call that was cancelled has been paid for, too.
        self.standings = await book.access.use(settle)
        self._reservation, self._unwritten, self.reserved = None, 0, 0
        for standing in self.standings:
            if standing.is_news:
                self.warnings.append(standing)
                logger.warning("%s", warning_of(standing))
                if book.on_warning is not None:
                    book.on_warning(standing)

    def _count(self, micros: int | None) -> None:
        self._is_under_way = False
        if micros is None:
            micros = self.reserved
            if self._is_priced:
                self.is_estimated = True
            else:
                self.is_unpriced = True
        self._unwritten += micros
        self.total += micros

    def _check_price(self, micros: int | None) -> None:
        """Take notice of whether the price is known.

        Raises:
            ArcLLMBudgetError: It is not, and such calls are not made.
        """
        self._is_priced = micros is not None
        if micros is not None or self._book.settings.unknown_price == "allow":
            return
        advice = "set `prices` of the budget, or `unknown_price` to `allow`"
        nothing = dollars_of(0)
        raise ArcLLMBudgetError(
            f"no price is known for `{self.model}` of `{self.account.provider}`; {advice}",
            "all", "", None, nothing, nothing,
        )  # fmt: skip

    async def _try(self, micros: int) -> Standing | None:
        """Reserve an amount; return the limit that has too little left, if any."""
        self.reserved = micros
        if not micros or not self.limits:
            return None
        book, now = self._book, self._book.now()
        whose = (self.account, micros, self.limits, now, book.settings.lease_seconds)
        found = await book.access.use(partial(book.store.reserve, *whose), self._release)
        if isinstance(found, Standing):
            self.reserved = 0
            return found
        self._reservation = found
        return None

    def _release(self, found: int | Standing) -> None:
        """Take back what was reserved for a call that was cancelled before it was made."""
        if not isinstance(found, Standing):
            self._book.store.settle(found, self.account, 0, (), 100)


def _price_micros(bound: CallBound, output_tokens: int) -> int | None:
    cost = bound.price(bound.input_tokens, output_tokens)
    return None if cost is None else micros_of(cost)


def warning_of(standing: Standing) -> str:
    """Say how much of a limit is spent."""
    limit = standing.limit
    return (
        f"${write_dollars(standing.spent)} of the ${write_dollars(limit.micros)} of `{limit.scope}` for"
        f" {limit.period} are spent"
    )


def limit_error(standing: Standing, micros: int, answer: str = "") -> ArcLLMBudgetError:
    """Return the error of a call that a limit has too little left for.

    Args:
        standing: The limit.
        micros: What the call may cost.
        answer: With which answer.
    """
    limit, under_way = standing.limit, ""
    if standing.reserved:
        under_way = f" and ${dollars_of(standing.reserved)} reserved for calls under way"
    needed = dollars_of(micros)
    return ArcLLMBudgetError(
        f"the budget of `{limit.scope}` for {limit.period} has too little left: of"
        f" ${dollars_of(limit.micros)}, ${dollars_of(standing.spent)} are spent{under_way}, and this"
        f" call may cost ${needed}{answer}",
        limit.scope,
        limit.period,
        dollars_of(limit.micros),
        dollars_of(standing.used),
        needed,
    )
