"""What a turn keeps in the journal of its session, so that another process can go on with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amplifier_core.session_capabilities import SESSION_QUESTIONS_KEPT

from ..spending.kept_spending import SPENDING, KeptSpending, shared_budget_of
from .stored_turn import ERRORS
from .turn_state import TurnState


def keep_turn(state: TurnState) -> Callable[[], None]:
    """Keep what a turn has used and which errors it had, until what is returned is called."""
    coordinator, ledger = state.hooks.coordinator, state.ledger
    spending: KeptSpending | None = None
    # Another turn of a sub-agent does not go on; the turn around it has used what it used, too.
    goes_on = coordinator.get_capability(SESSION_QUESTIONS_KEPT) is True
    if ledger is not None and (goes_on or not coordinator.parent_id):
        of_session = shared_budget_of(state.settings.budget, coordinator)
        spending = KeptSpending(ledger, of_session)

    def describe() -> Iterator[tuple[str, Any]]:
        yield SPENDING, None if spending is None else spending.describe()
        yield ERRORS, None if state.recovery is None else state.recovery.describe()

    return state.journal.watch(describe)
