"""What a turn has used of its budget, its sub-agents included."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from ..budget import Budget

LimitKind = Literal["model_calls", "tool_calls", "tokens", "cost", "seconds"]


@dataclass(frozen=True)
class Limit:
    """A limit that is reached."""

    kind: LimitKind
    reason: str


class Ledger:
    """Counts what a turn uses; the turns of sub-agents draw on those of the turns around them."""

    def __init__(
        self,
        budget: Budget,
        parent: Ledger | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing used.

        Args:
            budget: What the turn may use.
            parent: The ledger of the turn in which this one runs.
            clock: Returns seconds.
        """
        self.budget = budget
        self.is_over = False
        """Whether its turn has ended; a task that it started may run on."""
        self._parent = parent
        self._clock = clock
        self._began = clock()
        self._model_calls = 0
        self._tool_calls = 0
        self._tokens = 0
        self._cost = Decimal(0)
        self._has_unpriced_calls = False

    def note_response(self, usage: Any) -> None:
        """Count a model call and the `usage` of its response, which may be None."""
        tokens = sum(_number(usage, name) for name in ("input_tokens", "output_tokens"))
        cost = getattr(usage, "cost_usd", None)
        for ledger in self._chain():
            ledger._model_calls += 1
            ledger._tokens += tokens
            if isinstance(cost, Decimal):
                ledger._cost += cost
            else:
                ledger._has_unpriced_calls = True

    def take_tool_call(self) -> Limit | None:
        """Count a tool call that is about to run; return the limit that forbids it, if any."""
        for ledger in self._chain():
            limit = ledger._used_up()
            if limit is not None:
                return limit
            most = ledger.budget.tool_calls
            if most is not None and ledger._tool_calls >= most:
                return Limit(
                    "tool_calls", f"the budget of {_counted(most, 'tool call')} is used up"
                )
        for ledger in self._chain():
            ledger._tool_calls += 1
        return None

    def reached(self) -> Limit | None:
        """Return the limit that forbids another model call, if any."""
        for ledger in self._chain():
            if (limit := ledger._used_up()) is not None:
                return limit
        for ledger in self._chain():
            most = ledger.budget.model_calls
            if most is not None and ledger._model_calls >= most:
                reason = f"the budget of {_counted(most, 'model call')} is used up"
                return Limit("model_calls", reason)
        return None

    def seconds_left(self) -> float | None:
        """Return the seconds until the turn must end; None for no limit."""
        left = [
            ledger.budget.seconds - (ledger._clock() - ledger._began)
            for ledger in self._chain()
            if ledger.budget.seconds is not None
        ]
        return max(min(left), 0.0) if left else None

    def out_of_time(self) -> Limit:
        """Return the limit of seconds that is reached first."""
        limits = [each.budget.seconds for each in self._chain() if each.budget.seconds is not None]
        return Limit("seconds", f"the budget of {min(limits, default=0):g} s is used up")

    def _used_up(self) -> Limit | None:
        """The limit of tokens or cost, if it is reached or cannot be kept."""
        tokens, cost = self.budget.tokens, self.budget.cost
        if tokens is not None and self._tokens >= tokens:
            return Limit("tokens", f"the budget of {_counted(tokens, 'token')} is used up")
        if cost is not None and self._cost >= cost:
            return Limit("cost", f"the budget of ${cost} is used up")
        if cost is not None and self._has_unpriced_calls:
            # What is not counted would never use it up.
            reason = f"the budget of ${cost} cannot be kept: what a model call cost is not known"
            return Limit("cost", reason)
        return None

    def _chain(self) -> Iterator[Ledger]:
        ledger: Ledger | None = self
        while ledger is not None:
            yield ledger
            ledger = ledger._parent


def running_ledger() -> Ledger | None:
    """Return the ledger of the innermost turn that runs here; None without one."""
    ledger = RUNNING.get()
    while ledger is not None and ledger.is_over:
        ledger = ledger._parent  # pyright: ignore[reportPrivateUsage] -- of the same file
    return ledger


RUNNING: ContextVar[Ledger | None] = ContextVar("running_ledger", default=None)
"""The ledger of the turn that runs here, on which the turns within it draw."""


def _number(usage: Any, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
