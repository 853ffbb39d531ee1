"""The layer that keeps calls within their budget."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.to_thread import run_sync

from amplifier_modules.closing import closing
from amplifier_modules.contexts.budget import CHARACTERS_PER_TOKEN

from ...exceptions import ArcLLMError
from ...step import Call, Piece, Step
from ...types import LLMResponse
from ..layer import Layer
from .account import Account, Limit, dollars_of
from .cost import Costs
from .errors import ArcLLMBudgetError, ArcLLMBudgetFileError
from .settings import BudgetSettings, default_path
from .store import BudgetStore, Standing

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Held:
    """A call that may be made."""

    account: Account
    limits: list[Limit]
    reservation: int | None
    """None if nothing had to be reserved."""
    input: int
    """What its input costs, as estimated."""
    micros: int
    """What is reserved."""
    is_priced: bool
    characters: int = 0
    """What came of the answer."""
    began: bool = False


class BudgetLayer(Layer):
    """Makes only calls that the budget has room for, whatever they turn out to cost at most.

    What a call may cost is reserved before, and what it did cost is settled after it. A call that
    the service refused costs nothing; one that was broken off costs its input and what came.
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
        self._store = BudgetStore(settings.path or default_path(), settings.busy_seconds)

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer.

        Raises:
            ArcLLMBudgetError: The budget has too little left.
            ArcLLMBudgetFileError: The file of the budget cannot be used.
        """
        held = await self._hold(call)
        try:
            response = await self.beneath.complete(call)
        except BaseException as error:
            await self._break_off(held, error)
            raise
        return await self._settle(held, response)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response; the errors are those above."""
        held = await self._hold(call)
        response = None
        try:
            async with closing(self.beneath.stream(call)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, LLMResponse):
                        response = piece
                        continue
                    held.began = True
                    held.characters += _characters(piece)
                    yield piece
        except BaseException as error:
            await self._break_off(held, error)
            raise
        if response is not None:
            yield await self._settle(held, response)
        else:
            await self._break_off(held, None)

    async def close(self) -> None:
        """Close the file and what is beneath."""
        await run_sync(self._store.close)
        await self.beneath.close()

    async def _hold(self, call: Call) -> _Held:
        now, name, model = self._now(), self.name, self.model_name
        account = Account.at(now, self._settings.agent, name)
        limits = account.limits(self._settings)
        entered = self._costs.input(call, name, model)
        if entered is None and self._settings.unknown_price == "block":
            advice = "set `prices` of the budget, or `unknown_price` to `allow`"
            nothing = dollars_of(0)
            raise ArcLLMBudgetError(
                f"no price is known for `{model}` of `{name}`; {advice}",
                "all", "", None, nothing, nothing,
            )  # fmt: skip
        is_priced, entered = entered is not None, entered or 0
        micros = entered + (self._costs.output(call, name, model) if is_priced else 0)
        held = _Held(account, limits, None, entered, micros, is_priced)
        if micros and limits:
            lease = self._settings.lease_seconds
            found = await run_sync(self._store.reserve, account, micros, limits, now, lease)
            if isinstance(found, Standing):
                raise _exceeded(found, micros)
            held.reservation = found
        return held

    async def _break_off(self, held: _Held, error: BaseException | None) -> None:
        """Settle a call without a response."""
        is_refused = isinstance(error, ArcLLMError) and not held.began
        written = -(-held.characters // CHARACTERS_PER_TOKEN)
        output = self._costs.tokens(self.name, self.model_name, 0, written) if written else 0
        try:
            await self._write(held, 0 if is_refused else held.input + output)
        except ArcLLMBudgetFileError as problem:
            if error is None:
                raise
            # The call's own error counts more; what is reserved stays reserved.
            logger.error("%s", problem)

    async def _settle(self, held: _Held, response: LLMResponse) -> LLMResponse:
        cost = self._costs.answer(response, self.name, self.model_name)
        micros = held.micros if cost is None else cost
        try:
            standings = await self._write(held, micros)
        except ArcLLMBudgetFileError as error:
            error.response = response
            raise
        shown: dict[str, Any] = {"cost_usd": str(dollars_of(micros))}
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
        standings: list[Standing] = []
        # A call that was cancelled has been paid for, too.
        with anyio.CancelScope(shield=True):
            standings = await run_sync(
                self._store.settle, held.reservation, held.account, micros, held.limits, percent
            )
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
        "spent_usd": str(dollars_of(standing.spent)),
        "limit_usd": str(dollars_of(standing.limit.micros)),
    }


def _warning(standing: Standing) -> str:
    limit = standing.limit
    return (
        f"${dollars_of(standing.spent)} of the ${dollars_of(limit.micros)} of `{limit.scope}` for"
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
