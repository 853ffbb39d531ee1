"""What one turn may use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn, Protocol, Self, TypeVar, cast

BUDGET_WARNING = "budget:warning"
"""Event: most of what a turn may use of a kind is used up."""

_COUNTS = ("model_calls", "tool_calls", "tokens")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of one turn, its sub-agents included; None is no limit.

    At the limit of model calls the model is asked once more, without tools, to say what it has
    found. At any other limit the turn ends at once. Either way the next turn goes on from there.

    Raises:
        TypeError: A limit is not a number.
        ValueError: A limit is not above 0.
    """

    model_calls: int | None = 100
    """Calls of the model; the closing one comes after them and is counted in the result."""
    tool_calls: int | None = None
    """Calls of tools."""
    tokens: int | None = None
    """Tokens of all requests and answers together."""
    cost: Decimal | float | None = None
    """US dollars."""
    seconds: float | None = None
    """Seconds from the start of the turn."""

    def __post_init__(self) -> None:
        """Check the limits."""
        for field in fields(self):
            value: object = getattr(self, field.name)
            if value is not None:
                _check(field.name, value)
        if isinstance(self.cost, float | int):
            object.__setattr__(self, "cost", Decimal(str(self.cost)))

    def shared(self) -> SharedBudget:
        """Return one budget of these limits for several runs, sessions and sub-agents together."""
        return SharedBudget(**{field.name: getattr(self, field.name) for field in fields(self)})

    def config(self) -> dict[str, Any]:
        """Return the limits as JSON, for the key `budget` of a loop's config."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.cost is not None:
            found["cost"] = str(self.cost)
        return found

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> Self:
        """Return the budget of a loop's config; absent limits have their defaults.

        Raises:
            TypeError: A key is unknown, or a limit is not a number.
            ValueError: A limit is not above 0.
        """
        values = dict(config)
        if isinstance(values.get("cost"), str):
            try:
                values["cost"] = Decimal(values["cost"])
            except InvalidOperation:
                message = f"`cost` of a budget is `{values['cost']}` (must be a number)"
                raise ValueError(message) from None
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class BudgetAmounts:
    """What is used of a shared budget, or what is left of it."""

    model_calls: int | None
    """Calls of the model; of what is left, None is no limit."""
    tool_calls: int | None
    """Calls of tools; None as above."""
    tokens: int | None
    """Tokens of requests and answers; None as above."""
    cost: Decimal | None
    """US dollars; None as above, and of what is used where the price of a call is not known."""
    seconds: float | None
    """Seconds; None as above."""


class BudgetAccount(Protocol):
    """What counts the turns of a shared budget."""

    def count_used(self) -> BudgetAmounts:
        """Return what is used."""
        ...

    def count_left(self) -> BudgetAmounts:
        """Return what is left."""
        ...


AccountT = TypeVar("AccountT", bound=BudgetAccount)


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedBudget(Budget):
    """One budget for several runs, sessions and sub-agents; `Budget.shared` makes it.

    It is accepted wherever a `Budget` is. It counts in one process, where threads and event loops may
    use it at once. A turn that begins when a limit of it is reached ends at once as `limit`.
    """

    @property
    def used(self) -> BudgetAmounts:
        """What the turns have used so far; model calls under way are not part of it."""
        if self.account is None:
            return BudgetAmounts(
                model_calls=0, tool_calls=0, tokens=0, cost=Decimal(0), seconds=0.0
            )
        return self.account.count_used()

    @property
    def left(self) -> BudgetAmounts:
        """What is left for further calls, less what is held back for those under way."""
        if self.account is None:
            return BudgetAmounts(**vars(self.limits()))
        return self.account.count_left()

    @property
    def account(self) -> BudgetAccount | None:
        """What counts its turns; None before the first."""
        return vars(self).get("_account")

    def open_account(self, account: AccountT) -> AccountT:
        """Set the account that counts its turns, unless there is one; return the one in use."""
        return vars(self).setdefault("_account", account)

    def limits(self) -> Budget:
        """Return its limits as those of one turn."""
        return Budget(**{field.name: getattr(self, field.name) for field in fields(self)})

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


class OverBudgetError(Exception):
    """A tool call is not run, as a limit of its turn is reached."""


def is_over_budget(data: Mapping[str, Any]) -> bool:
    """Whether the data of `tool:error` is that of a call that was not run because of its budget."""
    error: Any = data.get("error")
    return isinstance(error, Mapping) and cast("Any", error).get("type") == OverBudgetError.__name__


def warning_text(data: Mapping[str, Any]) -> str:
    """Return the message of the event `budget:warning`, from its data."""
    kind, used, limit = data.get("kind"), data.get("used"), data.get("limit")
    is_shared = data.get("is_shared") is True
    whose = "the shared budget" if is_shared else "this turn"
    if not isinstance(used, int | float) or not isinstance(limit, int | float):
        return f"most of {'' if is_shared else 'the budget of '}{whose} is used up"
    if kind == "cost":
        of = "of the shared budget" if is_shared else "that this turn may cost"
        return f"${used:.4g} of the ${limit:.4g} {of} are used up"
    if kind == "seconds":
        return f"{used:.3g} of the {limit:.3g} s of {whose} are used up"
    noun = str(kind).replace("_", " ")
    return f"{used:,} of the {limit:,} {noun} of {whose} are used up"


def _check(name: str, value: object) -> None:
    is_count = name in _COUNTS
    allowed = int if is_count else (int, float, Decimal)
    wanted = "a whole number above 0" if is_count else "a number above 0"
    if isinstance(value, bool) or not isinstance(value, allowed):
        found = type(value).__name__
        raise TypeError(f"`{name}` of a budget is of type `{found}` (must be {wanted}, or None)")
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"`{name}` of a budget is `{value}` (must be {wanted}, or None)")


def budget_of(given: Any) -> Any:
    """Return the budget that a mapping describes, and anything else as it is.

    Raises:
        ValueError: The mapping does not describe a budget.
    """
    if not isinstance(given, Mapping):
        return given
    try:
        return Budget.of_config(cast("Mapping[str, Any]", given))
    except TypeError as error:
        raise ValueError(str(error)) from error
