"""What several turns may use together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NoReturn, Self

from .budget import Budget
from .budget_amounts import BudgetAmounts

if TYPE_CHECKING:
    from .spending.shared_ledger import SharedLedger


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedBudget(Budget):
    """One budget for several runs, sessions and sub-agents; `Budget.shared` makes it.

    It is accepted wherever a `Budget` is. It counts in one process, where threads and event loops may
    use it at once. A turn that begins when a limit of it is reached ends at once as `limit`.
    """

    def __post_init__(self) -> None:
        """Check the limits, and begin with nothing used."""
        from .spending.shared_ledger import SharedLedger

        Budget.__post_init__(self)
        limits = Budget(**{field.name: getattr(self, field.name) for field in fields(self)})
        object.__setattr__(self, "_account", SharedLedger(limits))

    @property
    def account(self) -> SharedLedger:
        """What counts it."""
        return self._account  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType] -- of a frozen class

    @property
    def used(self) -> BudgetAmounts:
        """What the turns have used so far; model calls under way are not part of it."""
        return self.account.used()

    @property
    def left(self) -> BudgetAmounts:
        """What is left for further calls, less what is held back for those under way."""
        return self.account.left()

    def shared(self) -> SharedBudget:
        """Return the same budget."""
        return self

    def __eq__(self, other: object) -> bool:
        """Whether it is the same budget, not one with the same limits."""
        return self is other

    def __hash__(self) -> int:
        """Return the same for the same budget."""
        return id(self)

    def __copy__(self) -> Self:
        """Return the same budget: a copy would be another account."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the same budget, also in a copy of a mount plan."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled.

        Raises:
            TypeError: Always.
        """
        raise TypeError("a shared budget cannot be pickled: it counts in one process")
