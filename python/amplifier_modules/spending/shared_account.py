"""What all turns that draw on one shared budget have used together."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from amplifier_core import world
from amplifier_providers.prices.amounts import NOTHING

from .account import Account
from .budget import Budget, BudgetAmounts, SharedBudget
from .stopwatch import Stopwatch


class SharedAccount(Account):
    """The account of a shared budget. Its time is that in which at least one of its turns runs."""

    _name = "shared budget"
    _about = MappingProxyType({"is_shared": True})

    def __init__(self, budget: Budget, clock: Callable[[], float] = world.monotonic) -> None:
        """Begin with nothing used.

        Args:
            budget: What all turns may use together.
            clock: Returns seconds.
        """
        super().__init__(budget, clock)
        self._stopwatch = Stopwatch(clock, is_paused=True)
        self._running_turns = 0
        self._turns: set[str] = set()

    def note_turn(self, id: str) -> bool:
        """Note that a turn of a session that is stored is counted; whether it was not before."""
        with self._lock:
            is_new = id not in self._turns
            self._turns.add(id)
        return is_new

    def count_used(self) -> BudgetAmounts:
        """Return what is used."""
        with self._lock:
            return BudgetAmounts(
                model_calls=self._model_calls,
                tool_calls=self._tool_calls,
                tokens=self._tokens,
                cost=self.cost,
                seconds=self._stopwatch.seconds,
            )

    def count_left(self) -> BudgetAmounts:
        """Return what is left, less what is held back for calls under way."""
        with self._lock:
            tokens, cost = self._left_beside(NOTHING)
            if cost is not None and self._has_unpriced_calls:
                cost = Decimal(0)
            used = (
                self._model_calls + self._calls_under_way,
                self._tool_calls,
                self._stopwatch.seconds,
            )
            names = ("model_calls", "tool_calls", "seconds")
            left: dict[str, Any] = {"tokens": tokens, "cost": cost}
            for name, amount in zip(names, used, strict=True):
                limit = getattr(self.budget, name)
                left[name] = None if limit is None else limit - amount
        return BudgetAmounts(
            **{
                name: None if each is None else max(each, type(each)(0))
                for name, each in left.items()
            }
        )

    def _count_turn(self, change: int) -> None:
        if self._running_turns == 0:
            self._stopwatch.resume()
        self._running_turns += change
        if self._running_turns == 0:
            self._stopwatch.pause()


def account_of(budget: SharedBudget) -> SharedAccount:
    """Return the account of a shared budget."""
    account = budget.account
    if not isinstance(account, SharedAccount):
        # Of several threads that make one at the same time, the first is right.
        account = budget.open_account(SharedAccount(budget.limits()))
    return account
