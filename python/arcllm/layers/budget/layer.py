"""The layer that keeps calls within their budget."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from amplifier_modules.closing import closing
from amplifier_modules.contexts.budget import CHARACTERS_PER_TOKEN

from ...exceptions import ArcLLMError
from ...step import Call, Piece, Step
from ...types import LLMResponse
from ..layer import Layer
from .access import BudgetAccess
from .account import Account, Limit, dollars_of, written
from .cost import Costs
from .errors import ArcLLMBudgetError, ArcLLMBudgetFileError
from .settings import BudgetSettings, default_path
from .store import BudgetStore, Standing

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Held:
    """A call that may be made."""

    account: Account
    model: str
    limits: list[Limit] = field(default_factory=list[Limit])
    is_admitted: bool = False
    """Whether there was room for it."""
    reservation: int | None = None
    """None if nothing had to be reserved."""
    micros: int = 0
    """What is reserved."""
    is_priced: bool = False
    characters: int = 0
    """What came of the answer."""
    began: bool = False


class BudgetLayer(Layer):
    """Makes only calls that the budget has room for, whatever they turn out to cost at most.

    What a call may cost is reserved before, and what it did cost is settled after it. Where it turns
    to another model, what that may cost takes the place of what is reserved. A call that the service
    refused costs nothing; one that was broken off costs its input and what came.
    Calls that cost nothing do not touch the file.

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
        now: Callable[[], float] = time.time,
        on_warning: Callable[[Standing], object] | None = None,
    ) -> None:
        super().__init__(beneath)
        self._settings = settings
        self._now = now
        self._on_warning = on_warning
        self._costs = Costs(settings, now)
        self._limits = lru_cache(maxsize=64)(partial(Account.limits, settings=settings))
        self._store = BudgetStore(settings.path or default_path(), settings.busy_seconds)
        self._access = BudgetAccess(self._store)

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer.

        Raises:
            ArcLLMBudgetError: The budget has too little left.
            ArcLLMBudgetFileError: The file of the budget cannot be used.
        """
        held = await self._hold(call)
        try:
            response = await self.beneath.complete(self._followed(call, held))
        except BaseException as error:
            await self._break_off(held, call, error)
            raise
        return await self._settle(held, response)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response; the errors are those above."""
        held = await self._hold(call)
        response = None
        try:
            async with closing(self.beneath.stream(self._followed(call, held))) as pieces:
                async for piece in pieces:
                    if isinstance(piece, LLMResponse):
                        response = piece
                        continue
                    held.began = True
                    held.characters += _characters(piece)
                    yield piece
        except BaseException as error:
            await self._break_off(held, call, error)
            raise
        if response is not None:
            yield await self._settle(held, response)
        else:
            await self._break_off(held, call, None)

    async def close(self) -> None:
        """Close the file and what is beneath."""
        try:
            await self._access.close()
        finally:
            await self.beneath.close()

    async def _hold(self, call: Call) -> _Held:
        agent = call.notes.get("agent") or self._settings.agent
        held = _Held(Account.at(self._now(), agent, self.name), self.model_name)
        await self._admit(held, call, held.account, held.model)
        return held

    def _followed(self, call: Call, held: _Held) -> Call:
        """Return the call, so that what is reserved for it follows it to other models."""

        async def turn(provider: str, model: str) -> None:
            if held.is_admitted and (provider, model) == (held.account.provider, held.model):
                return
            held.is_admitted = False
            if held.reservation is not None:
                await self._access.use(
                    partial(self._store.settle, held.reservation, held.account, 0, (), 100)
                )
                held.reservation = None
            await self._admit(held, call, replace(held.account, provider=provider), model)

        return replace(call, on_turn=turn)

    async def _admit(self, held: _Held, call: Call, account: Account, model: str) -> None:
        """Reserve what a call may cost that this account is charged for.

        Raises:
            ArcLLMBudgetError: The budget has too little left.
        """
        name, limits = account.provider, self._limits(account)
        most = self._costs.most(call, name, model)
        if most is None and self._settings.unknown_price == "block":
            advice = "set `prices` of the budget, or `unknown_price` to `allow`"
            nothing = dollars_of(0)
            raise ArcLLMBudgetError(
                f"no price is known for `{model}` of `{name}`; {advice}",
                "all", "", None, nothing, nothing,
            )  # fmt: skip
        micros = most or 0
        if micros and limits:
            now, lease = self._now(), self._settings.lease_seconds
            reserve = partial(self._store.reserve, account, micros, limits, now, lease)
            found = await self._access.use(reserve, partial(self._release, account))
            if isinstance(found, Standing):
                raise _exceeded(found, micros)
            held.reservation = found
        held.account, held.model, held.limits = account, model, limits
        held.micros, held.is_priced, held.is_admitted = micros, most is not None, True

    def _release(self, account: Account, found: int | Standing) -> None:
        """Take back what was reserved for a call that was cancelled before it was made."""
        if not isinstance(found, Standing):
            self._store.settle(found, account, 0, (), 100)

    async def _break_off(self, held: _Held, call: Call, error: BaseException | None) -> None:
        """Settle a call without a response."""
        micros = 0
        if held.began or not isinstance(error, ArcLLMError):
            shown = -(-held.characters // CHARACTERS_PER_TOKEN)
            micros = self._costs.begun(call, held.account.provider, held.model, shown)
        try:
            await self._write(held, micros)
        except ArcLLMBudgetFileError as problem:
            if error is None:
                raise
            # The call's own error counts more; what is reserved stays reserved.
            logger.error("%s", problem)

    async def _settle(self, held: _Held, response: LLMResponse) -> LLMResponse:
        cost = self._costs.answer(response, held.account.provider, held.model)
        micros = held.micros if cost is None else cost
        try:
            standings = await self._write(held, micros)
        except ArcLLMBudgetFileError as error:
            error.response = response
            raise
        shown: dict[str, Any] = {"cost_usd": written(micros)}
        if cost is None:
            shown["estimated" if held.is_priced else "unpriced"] = True
        if standings:
            shown["limits"] = [_shown(standing) for standing in standings]
        if news := [_warning(standing) for standing in standings if standing.is_news]:
            shown["warnings"] = news
        response.metadata["budget"] = shown
        return response

    async def _write(self, held: _Held, micros: int) -> list[Standing]:
        if held.reservation is None and micros == 0:
            return []
        percent = self._settings.warn_percent
        whose = (held.reservation, held.account, micros, held.limits)
        settle = partial(self._store.settle, *whose, percent, now=self._now())
        # A call that was cancelled has been paid for, too.
        standings = await self._access.use(settle)
        for standing in standings:
            if standing.is_news:
                logger.warning("%s", _warning(standing))
                if self._on_warning is not None:
                    self._on_warning(standing)
        return standings


def _characters(piece: Piece) -> int:
    written = getattr(piece, "text", None) or getattr(piece, "arguments", None)
    return len(written) if isinstance(written, str) else 0


def _shown(standing: Standing) -> dict[str, str]:
    return {
        "scope": standing.limit.scope,
        "period": standing.limit.period,
        "spent_usd": written(standing.spent),
        "limit_usd": written(standing.limit.micros),
    }


def _warning(standing: Standing) -> str:
    limit = standing.limit
    return (
        f"${written(standing.spent)} of the ${written(limit.micros)} of `{limit.scope}` for"
        f" {limit.period} are spent"
    )


def _exceeded(standing: Standing, micros: int) -> ArcLLMBudgetError:
    limit, under_way = standing.limit, ""
    if standing.reserved:
        under_way = f" and ${dollars_of(standing.reserved)} reserved for calls under way"
    needed = dollars_of(micros)
    return ArcLLMBudgetError(
        f"the budget of `{limit.scope}` for {limit.period} has too little left: of"
        f" ${dollars_of(limit.micros)}, ${dollars_of(standing.spent)} are spent{under_way}, and this"
        f" call may cost ${needed}",
        limit.scope,
        limit.period,
        dollars_of(limit.micros),
        dollars_of(standing.used),
        needed,
    )
