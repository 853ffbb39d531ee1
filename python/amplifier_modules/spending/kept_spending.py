"""What a turn has used of its budget, kept for another process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.session_capabilities import SESSION_BUDGET

from .budget import Budget, SharedBudget
from .ledger import Ledger
from .shared_account import account_of

SPENDING = "state:spending"
"""The kind of its rows."""


class KeptSpending:
    """What a turn has used, its sub-agents included, and its limits."""

    __slots__ = ("_described", "_is_shared", "_ledger")

    def __init__(self, ledger: Ledger, of_session: SharedBudget | None) -> None:
        """Keep the account of a turn.

        Args:
            ledger: The ledger of the turn, or of a part of it.
            of_session: The shared budget on which all turns of the session draw; None without one.
        """
        self._ledger = ledger
        self._is_shared = of_session is not None and ledger.draws_on(of_session)
        self._described: dict[str, Any] | None = None

    def describe(self) -> dict[str, Any]:
        """Return it as JSON, the same object as long as nothing but an unlimited time has passed."""
        whole = self._ledger.whole
        used = {"turn": whole.turn_id, "is_shared": self._is_shared, **whole.describe()}
        limits = whole.budget.config()
        if any(limit is not None for limit in limits.values()):
            used["limits"] = limits
        before = self._described
        if before is not None and limits["seconds"] is None:
            used["seconds"] = before["seconds"]
            if used == before:
                return before
            used["seconds"] = whole.seconds
        self._described = used
        return used


def limits_of(spent: Mapping[str, Any] | None) -> Budget | None:
    """Return the limits of a turn of which `describe` told; None without any."""
    limits = None if spent is None else spent.get("limits")
    return None if limits is None else Budget.of_config(limits)


def shared_budget_of(configured: Budget | None, coordinator: Any) -> SharedBudget | None:
    """Return the shared budget on which the turns of a session draw; None without one.

    Args:
        configured: The budget of the loop.
        coordinator: Has the capability `session.budget`, which wins.
    """
    budget = coordinator.get_capability(SESSION_BUDGET) or configured
    return budget if isinstance(budget, SharedBudget) else None


def restore_shared(budget: SharedBudget, turns: Mapping[str, Mapping[str, Any]]) -> None:
    """Count what turns of other processes have used of a shared budget, each turn once.

    Args:
        budget: The budget.
        turns: What `describe` told of them last, by their ids.
    """
    account = account_of(budget)
    for id, used in turns.items():
        if account.note_turn(id):
            account.restore(used)
