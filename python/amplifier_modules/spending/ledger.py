"""What a turn has used of its budget, its sub-agents included."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Any, Protocol

from amplifier_core import world
from amplifier_providers.prices.allowance import NoRoomError
from amplifier_providers.prices.amounts import NOTHING, Estimate, Spent
from amplifier_providers.prices.call_bound import CallBound

from .account import Account, Limit, LimitKind, warned_from
from .budget import BUDGET_WARNING, Budget, SharedBudget
from .reservation import Reservation
from .shared_account import SharedAccount, account_of


class Emitter(Protocol):
    """Where the warnings of a turn go: its hooks."""

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event."""
        ...


class LimitReachedError(NoRoomError):
    """A request is not sent, as a limit leaves too little room for it."""

    def __init__(self, limit: Limit) -> None:
        """Name the limit."""
        super().__init__(limit.reason)
        self.limit = limit
        """The limit."""


class Ledger(Account):
    """Counts what a turn uses; the turns of sub-agents draw on those of the turns around them.

    A turn with a shared budget draws on the account of that, too, whose time runs from `begin` to
    `end`. Calls of concurrent sub-agents are counted from when they begin, with what is estimated of
    them, and then with what they used. All methods may be called from any thread.
    """

    def __init__(
        self,
        budget: Budget,
        parent: Ledger | None = None,
        clock: Callable[[], float] = world.monotonic,
        owner: Any = None,
    ) -> None:
        """Begin with nothing used.

        Args:
            budget: What the turn may use.
            parent: The ledger of the turn in which this one runs.
            clock: Returns seconds.
            owner: The coordinator of the session whose turn it is.
        """
        self._shared: SharedAccount | None = None
        if isinstance(budget, SharedBudget):
            self._shared, budget = account_of(budget), Budget(model_calls=None)
        above: list[Account] = [] if self._shared is None else [self._shared]
        above += [] if parent is None else parent._list_accounts()
        super().__init__(budget, clock, above)
        self.owner = owner
        self.is_over = False
        """Whether its turn has ended; a task that it started may run on."""
        self.hooks: Emitter | None = None
        """Where the warnings of its turn go."""
        self._parent = parent
        self._accounts: tuple[Account, ...] = (self, *dict.fromkeys(above))
        """The ledger, and those on which it draws, each once."""
        self._thread = threading.get_ident()
        self._has_begun = False
        self._runs = False
        self._turn_id: str | None = None

    def has_limit(self, kind: LimitKind) -> bool:
        """Whether this turn or one around it has a limit of this kind."""
        return any(getattr(each.budget, kind) is not None for each in self._list_accounts())

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
            if (limit := self._find_limit(estimate, is_closing=is_closing)) is not None:
                return limit
            for ledger in self._list_accounts():
                ledger._calls_under_way += 1
                ledger._hold_back(estimate)
        is_limited = self.has_limit("tokens") or self.has_limit("cost")
        return Reservation(estimate, self, is_limited=is_limited)

    @property
    def whole(self) -> Ledger:
        """The ledger of the whole turn, where this one is that of a part of it."""
        *_, whole = self._list_parts()
        return whole

    @property
    def has_called(self) -> bool:
        """Whether the turn, or the one that it is a part of, has called the model."""
        return self.whole._model_calls > 0

    @property
    def turn_id(self) -> str:
        """What tells the turn from all others, also in other processes."""
        self._turn_id = self._turn_id or world.random_bytes(8).hex()
        return self._turn_id

    def draws_on(self, budget: SharedBudget) -> bool:
        """Whether the whole turn draws on this budget by itself, and is counted there."""
        shared = self.whole._shared
        if shared is None or shared is not budget.account:
            return False
        shared.note_turn(self.whole.turn_id)
        return True

    def restore(self, used: Mapping[str, Any]) -> None:
        """Go on with a turn of another process; shared budgets have counted what it used."""
        for part in self._list_parts():
            super(Ledger, part).restore(used)
            part._turn_id = used["turn"]

    def take_tool_call(self) -> Limit | None:
        """Count a tool call that is about to run; return the limit that forbids it, if any."""
        with self._lock:
            for ledger in self._list_accounts():
                limit = ledger._used_up() or ledger._tools_limit()
                if limit is not None:
                    return limit
            for ledger in self._list_accounts():
                ledger._tool_calls += 1
        return None

    def reached_limit(self) -> Limit | None:
        """Return the limit that forbids another model call, if any."""
        with self._lock:
            return self._find_limit(NOTHING)

    def seconds_left(self) -> float | None:
        """Return the seconds until the turn must end; None for no limit."""
        left = [
            ledger.budget.seconds - ledger._stopwatch.seconds
            for ledger in self._list_accounts()
            if ledger.budget.seconds is not None
        ]
        return max(min(left), 0.0) if left else None

    def seconds_to_end(self) -> float | None:
        """Return the seconds until the turn must end as its clocks run now; None if they do not."""
        left = [
            account.budget.seconds - account._stopwatch.seconds
            for account in self._list_accounts()
            if account.budget.seconds is not None and not account._stopwatch.is_paused
        ]
        return max(min(left), 0.0) if left else None

    def out_of_time(self) -> Limit:
        """Return the limit of seconds that is reached first."""
        limits = [
            (account.budget.seconds - account._stopwatch.seconds, number, account)
            for number, account in enumerate(self._list_accounts())
            if account.budget.seconds is not None
        ]
        *_, account = min(limits, default=(0, 0, self))
        return account._time_limit()

    def begin(self) -> None:
        """Begin the turn: the time of its shared budgets runs."""
        with self._lock:
            self._has_begun = True
            self._notice_running()

    def end(self) -> None:
        """End the turn, and forget its session, which what counts late does not need."""
        with self._lock:
            self.is_over = True
            self.owner = self.hooks = None
            self._notice_running()

    @property
    def is_paused(self) -> bool:
        """Whether the seconds of the turn stand still."""
        return self._stopwatch.is_paused

    @contextmanager
    def pause_clock(self) -> Generator[None]:
        """Let the seconds of the turn, and of those around it, stand still in the block.

        Those of a shared budget run on while another of its turns runs.
        """
        with self._lock:
            for ledger in self._list_turns():
                ledger._stopwatch.pause()
                ledger._notice_running()
        try:
            yield
        finally:
            with self._lock:
                for ledger in self._list_turns():
                    ledger._stopwatch.resume()
                    ledger._notice_running()

    @contextmanager
    def noticing_pauses(self, listener: Callable[[], None]) -> Generator[None]:
        """Call a function whenever the seconds of the chain stop or go on, while the block runs.

        It may be called in any thread, and must return at once.
        """
        for account in self._list_accounts():
            account._stopwatch.listeners.append(listener)
        try:
            yield
        finally:
            for account in self._list_accounts():
                account._stopwatch.listeners.remove(listener)

    def report_to(self, hooks: Emitter) -> None:
        """Send the warnings of the turn, and of the one that it is a part of, to these hooks."""
        for ledger in self._list_parts():
            ledger.hooks = hooks

    def seconds_to_warning(self) -> float | None:
        """Return the seconds until most of the turn's own time is over; None without that warning.

        It is 0 or less from then on until `warnings` has returned the warning.
        """
        left = [
            float(warned_from(ledger.budget.seconds) - Decimal(ledger._stopwatch.seconds))
            for part in self._list_parts()
            for ledger in part._list_own()
            if ledger.budget.seconds is not None and "seconds" not in ledger._warned
        ]
        return min(left, default=None)

    async def warn(self) -> None:
        """Emit a warning, once for each limit, that most of it is used up."""
        for hooks, data in self.take_warnings():
            await hooks.emit(BUDGET_WARNING, data)

    def take_warnings(self) -> list[tuple[Emitter, dict[str, Any]]]:
        """Return the data of the warnings that are due, each once, and the hooks that get it.

        Those of the turns around this one are among them, as they may wait for it for long.
        """
        due: list[tuple[Emitter, dict[str, Any]]] = []
        with self._lock:
            for ledger in self._list_turns():
                # Hooks of another thread have another event loop.
                if ledger.hooks is None or ledger.is_over or ledger._thread != self._thread:
                    continue
                for account in ledger._list_own():
                    due += [(ledger.hooks, data) for data in account._new_warnings()]
        return due

    def exchange(self, held: Estimate, bound: CallBound) -> Estimate:
        """Hold back what a request may use in the place of what is held for its call.

        The answer is as long as every turn of the chain can still pay for.

        Raises:
            LimitReachedError: That is less than the shortest answer.
        """
        with self._lock:
            accounts = list(self._list_accounts())
            longest = [bound.longest_answer(*each._left_beside(held)) for each in accounts]
            answer_tokens = min(longest)
            if answer_tokens < bound.shortest_answer:
                raise LimitReachedError(accounts[longest.index(answer_tokens)]._room_limit())
            estimate = bound.estimate(answer_tokens)
            for ledger in accounts:
                ledger._hold_back(estimate)
                ledger._release(held)
        return estimate

    def count(self, held: Estimate, spent: Spent) -> None:
        """Count what was spent in the place of what is held back."""
        with self._lock:
            for ledger in self._list_accounts():
                ledger._release(held)
                ledger._add(spent)

    def end_call(self, held: Estimate, spent: Spent | None) -> None:
        """End a model call and count what was spent; None for a call that is not counted."""
        with self._lock:
            for ledger in self._list_accounts():
                ledger._calls_under_way -= 1
                ledger._release(held)
                if spent is not None:
                    ledger._model_calls += 1
                    ledger._add(spent)

    def _find_limit(self, estimate: Estimate, *, is_closing: bool = False) -> Limit | None:
        """The limit that forbids a model call; those that allow no closing call come first."""
        for ledger in self._list_accounts():
            if (limit := ledger._used_up(estimate)) is not None:
                return limit
        for ledger in () if is_closing else self._list_accounts():
            if (limit := ledger._calls_limit()) is not None:
                return limit
        return None

    def _notice_running(self) -> None:
        """Tell the shared budgets whether the turn runs: their clocks stop while none does."""
        runs = self._has_begun and not self.is_over and not self._stopwatch.is_paused
        if runs is not self._runs:
            self._runs = runs
            for account in self._list_accounts():
                account._count_turn(1 if runs else -1)

    def _list_own(self) -> Iterator[Account]:
        """Yield the ledger, and the account of the shared budget of its turn."""
        yield self
        if self._shared is not None:
            yield self._shared

    def _list_parts(self) -> Iterator[Ledger]:
        """Yield the ledger, and those of the turns of the same session that it is a part of."""
        for ledger in self._list_turns():
            if ledger is not self and not (ledger.owner is self.owner is not None):
                return
            yield ledger

    def _list_accounts(self) -> tuple[Account, ...]:
        return self._accounts

    def _list_turns(self) -> Iterator[Ledger]:
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
