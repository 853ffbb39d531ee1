"""What a turn has used of its budget, its sub-agents included."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, Protocol

from ..budget import BUDGET_WARNING, Budget
from ..shared_budget import SharedBudget
from .allowance import NoRoomError
from .call_bound import CallBound
from .estimate import NOTHING, Estimate, Spent
from .many_locks import ManyLocks
from .reservation import Reservation


class Teller(Protocol):
    """Where the warnings of a turn go: its hooks."""

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event."""
        ...


LimitKind = Literal["model_calls", "tool_calls", "tokens", "cost", "seconds"]


WARNING_SHARE = Decimal("0.8")
"""The share of a limit from which on a turn warns."""


@dataclass(frozen=True)
class Limit:
    """A limit that is reached."""

    kind: LimitKind
    reason: str


class LimitReachedError(NoRoomError):
    """A request is not sent, as a limit leaves too little room for it."""

    def __init__(self, limit: Limit) -> None:
        """Name the limit."""
        super().__init__(limit.reason)
        self.limit = limit
        """The limit."""


class Ledger:
    """Counts what a turn uses; the turns of sub-agents draw on those of the turns around them.

    A turn with a shared budget draws on the account of that, too, which counts no time but that of
    its turns: `begin` and `end` say when that is. Calls of concurrent sub-agents are counted from when they begin, with what is estimated of them,
    and then with what they used. All methods may be called from any thread.
    """

    _name = "budget"
    """What reasons call what is counted here."""
    _about: Mapping[str, Any] = MappingProxyType({})
    """What warnings say besides."""

    def __init__(
        self,
        budget: Budget,
        parent: Ledger | None = None,
        clock: Callable[[], float] = time.monotonic,
        owner: Any = None,
    ) -> None:
        """Begin with nothing used.

        Args:
            budget: What the turn may use.
            parent: The ledger of the turn in which this one runs.
            clock: Returns seconds.
            owner: The coordinator of the session whose turn it is.
        """
        self._shared = budget.account if isinstance(budget, SharedBudget) else None
        self.budget = budget if self._shared is None else Budget(model_calls=None)
        self.owner = owner
        self.is_over = False
        """Whether its turn has ended; a task that it started may run on."""
        self.hooks: Teller | None = None
        """Where the warnings of its turn go."""
        self._parent = parent
        self._clock = clock
        self._began = clock()
        around = [each for each in (self._shared, parent) if each is not None]
        above = dict.fromkeys(ledger for each in around for ledger in each._chain())
        self._ledgers: tuple[Ledger, ...] = (self, *above)
        """The ledger, and those on which it draws, each once."""
        # A step is allowed by all ledgers of its chain, or by none. A tree has one lock, to which
        # shared budgets add theirs.
        locks = dict.fromkeys(lock for each in around for lock in each._locks)
        self._locks: tuple[threading.Lock, ...] = tuple(locks) or (threading.Lock(),)
        self._lock = self._locks[0] if len(self._locks) == 1 else ManyLocks(self._locks)
        self._has_begun = False
        self._thread = threading.get_ident()
        self._model_calls = 0
        self._tool_calls = 0
        self._tokens = 0
        self._cost = Decimal(0)
        self._has_unpriced_calls = False
        self._calls_under_way = 0
        self._reserved_tokens = 0
        self._reserved_cost = Decimal(0)
        self._warned: set[LimitKind] = set()

    @property
    def model_calls(self) -> int:
        """The model calls that are over."""
        return self._model_calls

    @property
    def tool_calls(self) -> int:
        """The tool calls that were begun."""
        return self._tool_calls

    @property
    def tokens(self) -> int:
        """The tokens of all model calls that are over."""
        return self._tokens

    @property
    def cost(self) -> Decimal | None:
        """The US dollars of all model calls that are over; None if the price of one is not known."""
        return None if self._has_unpriced_calls else self._cost

    def limits(self, kind: LimitKind) -> bool:
        """Whether this turn or one around it has a limit of this kind."""
        return any(getattr(each.budget, kind) is not None for each in self._chain())

    def reserve(
        self, estimate: Estimate = NOTHING, *, is_closing: bool = False
    ) -> Reservation | Limit:
        """Begin a model call; return the limit that forbids it, if any.

        Args:
            estimate: What the call will use, as far as that is known. It counts where other calls
                are under way: together they must fit. A call alone may begin below the limit; what
                its requests may use at most is then held back by `exchange`.
            is_closing: Whether it is the call that ends the turn, past the limit of model calls.
        """
        with self._lock:
            if (limit := self._forbidden(estimate, is_closing=is_closing)) is not None:
                return limit
            for ledger in self._chain():
                ledger._calls_under_way += 1
                ledger._hold_back(estimate)
        is_limited = self.limits("tokens") or self.limits("cost")
        return Reservation(estimate, self, is_limited=is_limited)

    @property
    def has_called(self) -> bool:
        """Whether the turn, or the one that it is a part of, has called the model."""
        *_, whole = self._parts()
        return whole._model_calls > 0

    def take_tool_call(self) -> Limit | None:
        """Count a tool call that is about to run; return the limit that forbids it, if any."""
        with self._lock:
            for ledger in self._chain():
                limit = ledger._used_up()
                if limit is not None:
                    return limit
                most = ledger.budget.tool_calls
                if most is not None and ledger._tool_calls >= most:
                    return Limit(
                        "tool_calls",
                        f"the {ledger._name} of {_counted(most, 'tool call')} is used up",
                    )
            for ledger in self._chain():
                ledger._tool_calls += 1
        return None

    def reached(self) -> Limit | None:
        """Return the limit that forbids another model call, if any."""
        with self._lock:
            return self._forbidden(NOTHING)

    def seconds_left(self) -> float | None:
        """Return the seconds until the turn must end; None for no limit."""
        left = [
            ledger.budget.seconds - ledger._elapsed()
            for ledger in self._chain()
            if ledger.budget.seconds is not None
        ]
        return max(min(left), 0.0) if left else None

    def out_of_time(self) -> Limit:
        """Return the limit of seconds that is reached first."""
        limits = [
            (ledger.budget.seconds - ledger._elapsed(), ledger.budget.seconds, ledger._name)
            for ledger in self._chain()
            if ledger.budget.seconds is not None
        ]
        _, seconds, name = min(limits, default=(0, 0, self._name))
        return Limit("seconds", f"the {name} of {seconds:g} s is used up")

    def begin(self) -> None:
        """Begin the turn: the time of its shared budgets runs."""
        with self._lock:
            self._has_begun = True
            for ledger in self._chain():
                ledger._count_turn(1)

    def end(self) -> None:
        """End the turn."""
        with self._lock:
            self.is_over = True
            if self._has_begun:
                self._has_begun = False
                for ledger in self._chain():
                    ledger._count_turn(-1)

    def tell(self, hooks: Teller) -> None:
        """Have the warnings of the turn, and of the one that it is a part of, go to these hooks."""
        for ledger in self._parts():
            ledger.hooks = hooks

    def seconds_to_warning(self) -> float | None:
        """Return the seconds until most of the turn's own time is over; None without that warning.

        It is 0 or less from then on until `warnings` has returned the warning.
        """
        left = [
            float(_warned_from(ledger.budget.seconds) - Decimal(ledger._elapsed()))
            for part in self._parts()
            for ledger in part._accounts()
            if ledger.budget.seconds is not None and "seconds" not in ledger._warned
        ]
        return min(left, default=None)

    async def warn(self) -> None:
        """Tell, once for each limit, that most of it is used up."""
        for hooks, data in self.warnings():
            await hooks.emit(BUDGET_WARNING, data)

    def warnings(self) -> list[tuple[Teller, dict[str, Any]]]:
        """Return the data of the warnings that are due, each once, and the hooks that get it.

        Those of the turns around this one are among them, as they may wait for it for long.
        """
        due: list[tuple[Teller, dict[str, Any]]] = []
        with self._lock:
            for ledger in self._turns():
                # Hooks of another thread have another event loop.
                if ledger.hooks is None or ledger.is_over or ledger._thread != self._thread:
                    continue
                for account in ledger._accounts():
                    due += [(ledger.hooks, data) for data in account._new_warnings()]
        return due

    def _new_warnings(self) -> Iterator[dict[str, Any]]:
        used: dict[LimitKind, Any] = {
            "model_calls": self._model_calls,
            "tool_calls": self._tool_calls,
            "tokens": self._tokens,
            "cost": self._cost,
            "seconds": self._elapsed(),
        }
        for kind, amount in used.items():
            limit: Any = getattr(self.budget, kind)
            if limit is None or kind in self._warned:
                continue
            if Decimal(amount) >= _warned_from(limit):
                self._warned.add(kind)
                is_count = isinstance(limit, int) and isinstance(amount, int)
                number = int if is_count else float
                yield {"kind": kind, "used": number(amount), "limit": number(limit), **self._about}

    def exchange(self, held: Estimate, bound: CallBound) -> Estimate:
        """Hold back what a request may use in the place of what is held for its call.

        The answer is as long as every turn of the chain can still pay for.

        Raises:
            LimitReachedError: That is less than the shortest answer.
        """
        with self._lock:
            chain = list(self._chain())
            longest = [bound.longest_answer(*each._left_beside(held)) for each in chain]
            answer_tokens = min(longest)
            if answer_tokens < bound.shortest_answer:
                raise LimitReachedError(chain[longest.index(answer_tokens)]._room_limit())
            estimate = bound.estimate(answer_tokens)
            for ledger in chain:
                ledger._hold_back(estimate)
                ledger._release(held)
        return estimate

    def count(self, held: Estimate, spent: Spent) -> None:
        """Count what was spent in the place of what is held back."""
        with self._lock:
            for ledger in self._chain():
                ledger._release(held)
                ledger._add(spent)

    def end_call(self, held: Estimate, spent: Spent | None) -> None:
        """End a model call and count what was spent; None for a call that is not counted."""
        with self._lock:
            for ledger in self._chain():
                ledger._calls_under_way -= 1
                ledger._release(held)
                if spent is not None:
                    ledger._model_calls += 1
                    ledger._add(spent)

    def _hold_back(self, estimate: Estimate) -> None:
        self._reserved_tokens += estimate.tokens
        self._reserved_cost += estimate.cost

    def _release(self, estimate: Estimate) -> None:
        self._reserved_tokens -= estimate.tokens
        self._reserved_cost -= estimate.cost

    def _add(self, spent: Spent) -> None:
        self._tokens += spent.tokens
        if spent.cost is None:
            self._has_unpriced_calls = True
        else:
            self._cost += spent.cost

    def _left_beside(self, held: Estimate) -> tuple[int | None, Decimal | None]:
        """Return the tokens and dollars that are left for a call for which so much is held back."""
        tokens, cost = self.budget.tokens, self.budget.cost
        if tokens is not None:
            tokens -= self._tokens + self._reserved_tokens - held.tokens
        if cost is not None:
            cost = Decimal(cost) - self._cost - (self._reserved_cost - held.cost)
        return tokens, cost

    def _room_limit(self) -> Limit:
        """Return the limit of which too little is left for a request."""
        tokens, cost = self.budget.tokens, self.budget.cost
        limits = [] if tokens is None else [_counted(tokens, "token")]
        limits += [] if cost is None else [f"${cost}"]
        beside = " beside those that are under way" if self._calls_under_way > 1 else ""
        reason = f"the {self._name} of {' and '.join(limits)} has no room for another call{beside}"
        return Limit("tokens" if cost is None else "cost", reason)

    def _forbidden(self, estimate: Estimate, *, is_closing: bool = False) -> Limit | None:
        """The limit that forbids a model call; those that allow no closing call come first."""
        for ledger in self._chain():
            if (limit := ledger._used_up(estimate)) is not None:
                return limit
        for ledger in () if is_closing else self._chain():
            most = ledger.budget.model_calls
            if most is not None and ledger._model_calls + ledger._calls_under_way >= most:
                reason = f"the {ledger._name} of {_counted(most, 'model call')} is used up"
                return Limit("model_calls", reason)
        return None

    def _used_up(self, estimate: Estimate | None = None) -> Limit | None:
        """The limit of tokens or cost, if it is reached or cannot be kept."""
        tokens, cost = self.budget.tokens, self.budget.cost
        if tokens is not None:
            left = tokens - self._tokens
            if left <= 0:
                return Limit(
                    "tokens", f"the {self._name} of {_counted(tokens, 'token')} is used up"
                )
            if self._calls_under_way and estimate is not None:
                left -= self._reserved_tokens
                if left <= 0 or estimate.tokens > left:
                    reason = (
                        f"the {self._name} of {_counted(tokens, 'token')} has no room for another call"
                        " beside those that are under way"
                    )
                    return Limit("tokens", reason)
        if cost is None:
            return None
        money = Decimal(cost) - self._cost
        if money <= 0:
            return Limit("cost", f"the {self._name} of ${cost} is used up")
        if self._has_unpriced_calls:
            # What is not counted would never use it up.
            reason = (
                f"the {self._name} of ${cost} cannot be kept: what a model call cost is not known"
            )
            return Limit("cost", reason)
        if self._calls_under_way and estimate is not None:
            money -= self._reserved_cost
            if money <= 0 or estimate.cost > money:
                reason = (
                    f"the {self._name} of ${cost} has no room for another call beside those that are"
                    " under way"
                )
                return Limit("cost", reason)
        return None

    def _count_turn(self, change: int) -> None:
        """Take notice that a turn which draws on this ledger begins or ends."""

    def _elapsed(self) -> float:
        """Return the seconds that count."""
        return self._clock() - self._began

    def _accounts(self) -> Iterator[Ledger]:
        """Yield the ledger, and the account of the shared budget of its turn."""
        yield self
        if self._shared is not None:
            yield self._shared

    def _parts(self) -> Iterator[Ledger]:
        """Yield the ledger, and those of the turns of the same session that it is a part of."""
        for ledger in self._turns():
            if ledger is not self and not (ledger.owner is self.owner is not None):
                return
            yield ledger

    def _chain(self) -> tuple[Ledger, ...]:
        return self._ledgers

    def _turns(self) -> Iterator[Ledger]:
        """Yield the ledger, and those of the turns around it."""
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


def _warned_from(limit: float | Decimal) -> Decimal:
    return Decimal(limit) * WARNING_SHARE


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
