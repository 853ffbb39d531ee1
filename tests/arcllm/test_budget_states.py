"""The file of a budget against plain sums, in any order of calls."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from budget_in_file import NOON
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from arcllm.layers.budget.account import Account, Limit
from arcllm.layers.budget.store import BudgetStore


class Budgets(RuleBasedStateMachine):
    """Calls of two processes on one file, against plain sums."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        path = Path(self.folder.name) / "budget"
        self.stores = [BudgetStore(path, 10), BudgetStore(path, 10)]
        self.now = NOON
        self.under_way: list[tuple[int, Account, int, float]] = []
        self.spent: dict[tuple[str, str], int] = {}
        self.excess: dict[tuple[str, str], int] = {}
        """What settled above its reservation."""

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.folder.cleanup()

    def limits(self, account: Account) -> list[Limit]:
        limits = [Limit("all", account.month, 3000), Limit("all", account.day, 1000)]
        return [*limits, Limit("agent:a", account.day, 500)] if account.agent == "a" else limits

    @rule(
        store=st.integers(0, 1),
        agent=st.sampled_from(["a", "b", None]),
        micros=st.integers(0, 600),
        lease=st.sampled_from([10.0, 10_000.0]),
    )
    def reserve(self, store: int, agent: str | None, micros: int, lease: float) -> None:
        account = Account.at(self.now, agent, "p")
        self.under_way = [each for each in self.under_way if each[3] > self.now] + [
            (0, each[1], each[2], each[3]) for each in self.under_way if each[3] <= self.now
        ]
        found = self.stores[store].reserve(account, micros, self.limits(account), self.now, lease)
        fits = all(
            self.spent.get((limit.scope, limit.period), 0)
            + sum(
                each[2]
                for each in self.under_way
                if each[0] and limit.scope in each[1].scopes
                if limit.period in (each[1].day, each[1].month)
            )
            + micros
            <= limit.micros
            for limit in self.limits(account)
        )
        assert isinstance(found, int) == fits
        if isinstance(found, int):
            self.under_way.append((found, account, micros, self.now + lease))

    @precondition(lambda self: self.under_way)
    @rule(store=st.integers(0, 1), which=st.integers(0), micros=st.integers(0, 700))
    def settle(self, store: int, which: int, micros: int) -> None:
        number, account, held, expires = self.under_way.pop(which % len(self.under_way))
        standings = self.stores[store].settle(
            number or 1_000_000, account, micros, self.limits(account), 80
        )
        held = held if expires > self.now and number else 0
        for scope in account.scopes:
            for period in (account.month, account.day):
                key = scope, period
                self.spent[key] = self.spent.get(key, 0) + micros
                self.excess[key] = self.excess.get(key, 0) + max(0, micros - held)
        for standing in standings:
            key = standing.limit.scope, standing.limit.period
            assert standing.spent == self.spent.get(key, 0)

    @rule(seconds=st.sampled_from([1.0, 60.0, 86_400.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def limits_are_passed_only_by_what_settled_above_its_reservation(self) -> None:
        for (scope, period), micros in self.spent.items():
            most = {("all", 7): 3000, ("all", 10): 1000, ("agent:a", 10): 500}
            limit = most.get((scope, len(period)))
            if limit is not None:
                assert micros <= limit + self.excess[scope, period]


TestBudgets = Budgets.TestCase
