"""The layer that keeps calls within their budget."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from amplifier_core import world
from amplifier_providers.requests.token_estimate import CHARACTERS_PER_TOKEN
from amplifier_providers.running.closing import closing

from ...exceptions import ArcLLMError
from ...step import Call, Piece, Step
from ...types import LLMResponse
from ..layer import Layer
from .access import BudgetAccess
from .account import Account, write_dollars
from .charge import Book, Charge, warning_of
from .cost import Costs
from .errors import ArcLLMBudgetFileError
from .settings import BudgetSettings, default_path
from .store import BudgetStore, Standing

logger = logging.getLogger(__name__)


class BudgetLayer(Layer):
    """Makes only calls that the budget has room for, whatever they turn out to cost at most.

    What each request of a call may cost is reserved before it is sent, with an answer that is as long
    as the limits still pay, and what it did cost is settled after it. One that the service refused
    costs nothing; one that was broken off costs what was reserved. Requests that cost nothing do not
    touch the file.

    Where a provider does not ask for each request, the call is reserved as a whole by estimates: one
    that was broken off costs its input and what came.

    Args:
        beneath: What is asked for the answer.
        settings: What calls may cost.
        now: Returns the current time, in seconds since the epoch.
        on_warning: Called once for each limit of which the warning part is spent.
    """

    def __init__(
        self,
        beneath: Step,
        settings: BudgetSettings,
        *,
        now: Callable[[], float] = world.time,
        on_warning: Callable[[Standing], object] | None = None,
    ) -> None:
        super().__init__(beneath)
        self._settings = settings
        self._costs = Costs(settings, now)
        limits = lru_cache(maxsize=64)(partial(Account.list_limits, settings=settings))
        store = BudgetStore(settings.path or default_path(), settings.busy_seconds)
        access = BudgetAccess(store)
        self._book = Book(settings, self._costs, store, access, now, limits, on_warning)

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer.

        Raises:
            ArcLLMBudgetError: The budget has too little left.
            ArcLLMBudgetFileError: The file of the budget cannot be used.
        """
        charge = await self._begin(call)
        try:
            response = await self.beneath.complete(self._attach_charge(call, charge))
        except BaseException as error:
            await self._break_off(charge, call, error)
            raise
        return await self._settle(charge, response)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response; the errors are those above."""
        charge = await self._begin(call)
        response: LLMResponse | None = None
        characters: int | None = None
        try:
            async with closing(self.beneath.stream(self._attach_charge(call, charge))) as pieces:
                async for piece in pieces:
                    if isinstance(piece, LLMResponse):
                        response = piece
                        continue
                    characters = (characters or 0) + _count_characters(piece)
                    yield piece
        except BaseException as error:
            await self._break_off(charge, call, error, characters)
            raise
        if response is not None:
            yield await self._settle(charge, response)
        else:
            await self._break_off(charge, call, None, characters)

    async def close(self) -> None:
        """Close the file and what is beneath."""
        try:
            await self._book.access.close()
        finally:
            await self.beneath.close()

    async def _begin(self, call: Call) -> Charge:
        """Return the charge of a call; where nobody asks for its requests, it is reserved as a whole.

        Raises:
            ArcLLMBudgetError: The budget has too little left.
        """
        agent = call.notes.get("agent") or self._settings.agent
        account = Account.at(self._book.now(), agent, self.name)
        charge = Charge(self._book, account, self.model_name)
        if not self.asks_allowance:
            most = self._costs.bound_cost(call, self.name, self.model_name)
            await charge.reserve(self.name, self.model_name, most)
        return charge

    def _attach_charge(self, call: Call, charge: Charge) -> Call:
        """Return the call, so that its charge follows it to other models."""

        async def turn_charge(step: Step) -> None:
            provider, model = step.name, step.model_name
            is_same = (provider, model) == (charge.account.provider, charge.model)
            asks = getattr(step, "asks_allowance", False)
            if is_same and (asks or charge.is_admitted):
                return
            if asks:
                await charge.turn_to(provider, model)
            else:
                most = self._costs.bound_cost(call, provider, model)
                await charge.reserve(provider, model, most)

        return replace(call, on_turn=turn_charge, allowance=charge)

    async def _break_off(
        self,
        charge: Charge,
        call: Call,
        error: BaseException | None,
        characters: int | None = None,
    ) -> None:
        """Settle a call without a response.

        Args:
            charge: Its charge.
            call: The call.
            error: Why it has none.
            characters: What came of the answer; None if none had begun.
        """
        if charge.has_requests or self.asks_allowance:
            charge.break_off()
        elif characters is not None or not isinstance(error, ArcLLMError):
            shown = -(-(characters or 0) // CHARACTERS_PER_TOKEN)
            charge.charge(
                self._costs.cost_of_broken_call(call, charge.account.provider, charge.model, shown)
            )
        try:
            await charge.write()
        except ArcLLMBudgetFileError as problem:
            if error is None:
                raise
            # The call's own error counts more; what is reserved stays reserved.
            logger.error("%s", problem)

    async def _settle(self, charge: Charge, response: LLMResponse) -> LLMResponse:
        if not charge.has_requests:
            cost = self._costs.answer(response, charge.account.provider, charge.model)
            charge.charge(cost)
        try:
            await charge.write()
        except ArcLLMBudgetFileError as error:
            error.response = response
            raise
        shown: dict[str, Any] = {"cost_usd": write_dollars(charge.total)}
        if charge.is_estimated:
            shown["estimated"] = True
        if charge.is_unpriced:
            shown["unpriced"] = True
        if charge.standings:
            shown["limits"] = [_describe_standing(standing) for standing in charge.standings]
        if charge.warnings:
            shown["warnings"] = [warning_of(standing) for standing in charge.warnings]
        response.metadata["budget"] = shown
        return response


def _count_characters(piece: Piece) -> int:
    write_dollars = getattr(piece, "text", None) or getattr(piece, "arguments", None)
    return len(write_dollars) if isinstance(write_dollars, str) else 0


def _describe_standing(standing: Standing) -> dict[str, str]:
    return {
        "scope": standing.limit.scope,
        "period": standing.limit.period,
        "spent_usd": write_dollars(standing.spent),
        "limit_usd": write_dollars(standing.limit.micros),
    }
