"""The amounts that one budget limits: what is used of them, and what is held back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from threading import Lock
from types import MappingProxyType, TracebackType
from typing import Any, Literal

from amplifier_core import world
from amplifier_providers.prices.amounts import Estimate, Spent

from .budget import Budget
from .stopwatch import Stopwatch


class ManyLocks:
    """Holds all of some locks in `with`; all threads take them in the same order."""

    def __init__(self, locks: Sequence[Lock]) -> None:
        """Hold these."""
        self._locks = sorted(locks, key=id)

    def __enter__(self) -> None:
        """Take them, or none."""
        with ExitStack() as taken:
            for lock in self._locks:
                taken.enter_context(lock)
            taken.pop_all()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release them."""
        for lock in self._locks:
            lock.release()


LimitKind = Literal["model_calls", "tool_calls", "tokens", "cost", "seconds"]

WARNING_SHARE = Decimal("0.8")
"""The share of a limit from which on a turn warns."""


@dataclass(frozen=True)
class Limit:
    """A limit that is reached."""

    kind: LimitKind
    reason: str


class Account:
    """What is used of one budget, and what is held back of it for calls under way.

    Whoever reads or changes it holds its lock.
    """

    _name = "budget"
    """What reasons call what is counted here."""
    _about: Mapping[str, Any] = MappingProxyType({})
    """What warnings say besides."""

    def __init__(
        self,
        budget: Budget,
        clock: Callable[[], float] = world.monotonic,
        above: Sequence[Account] = (),
    ) -> None:
        """Begin with nothing used.

        Args:
            budget: The limits.
            clock: Returns seconds.
            above: The accounts on which this one draws.
        """
        self.budget = budget
        self._stopwatch = Stopwatch(clock)
        # A step is allowed by all accounts of a chain, or by none. A tree of turns has one lock, to
        # which shared budgets add theirs.
        locks = dict.fromkeys(lock for each in above for lock in each._locks)
        self._locks: tuple[threading.Lock, ...] = tuple(locks) or (threading.Lock(),)
        self._lock = self._locks[0] if len(self._locks) == 1 else ManyLocks(self._locks)
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

    @property
    def seconds(self) -> float:
        """The seconds that it has run."""
        return self._stopwatch.seconds

    def describe(self) -> dict[str, Any]:
        """Return what is used as JSON, for `restore`."""
        with self._lock:
            return {
                "model_calls": self._model_calls,
                "tool_calls": self._tool_calls,
                "tokens": self._tokens,
                "cost": str(self._cost),
                "has_unpriced_calls": self._has_unpriced_calls,
                "seconds": self._stopwatch.seconds,
            }

    def restore(self, used: Mapping[str, Any]) -> None:
        """Count what was used in another process, too; its warnings were given there."""
        with self._lock:
            self._model_calls += used["model_calls"]
            self._tool_calls += used["tool_calls"]
            self._tokens += used["tokens"]
            self._cost += Decimal(used["cost"])
            self._has_unpriced_calls |= used["has_unpriced_calls"]
            self._stopwatch.add(used["seconds"])
            list(self._new_warnings())

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
        limits = [] if tokens is None else [_count_noun(tokens, "token")]
        limits += [] if cost is None else [f"${cost}"]
        beside = " beside those that are under way" if self._calls_under_way > 1 else ""
        reason = f"the {self._name} of {' and '.join(limits)} has no room for another call{beside}"
        return Limit("tokens" if cost is None else "cost", reason)

    def _time_limit(self) -> Limit:
        """Return the limit of seconds."""
        return Limit("seconds", f"the {self._name} of {self.budget.seconds or 0:g} s is used up")

    def _calls_limit(self) -> Limit | None:
        """The limit of model calls, if it is reached."""
        most = self.budget.model_calls
        if most is None or self._model_calls + self._calls_under_way < most:
            return None
        return Limit(
            "model_calls", f"the {self._name} of {_count_noun(most, 'model call')} is used up"
        )

    def _tools_limit(self) -> Limit | None:
        """The limit of tool calls, if it is reached."""
        most = self.budget.tool_calls
        if most is None or self._tool_calls < most:
            return None
        return Limit(
            "tool_calls", f"the {self._name} of {_count_noun(most, 'tool call')} is used up"
        )

    def _used_up(self, estimate: Estimate | None = None) -> Limit | None:
        """The limit of seconds, tokens or cost, if it is reached or cannot be kept.

        That of seconds may be reached before its timer is: where a tool kept the event loop.
        """
        seconds = self.budget.seconds
        if seconds is not None and self._stopwatch.seconds >= seconds:
            return self._time_limit()
        tokens, cost = self.budget.tokens, self.budget.cost
        if tokens is not None:
            left = tokens - self._tokens
            if left <= 0:
                return Limit(
                    "tokens", f"the {self._name} of {_count_noun(tokens, 'token')} is used up"
                )
            if self._calls_under_way and estimate is not None:
                left -= self._reserved_tokens
                if left <= 0 or estimate.tokens > left:
                    reason = (
                        f"the {self._name} of {_count_noun(tokens, 'token')} has no room for another call"
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

    def _new_warnings(self) -> Iterator[dict[str, Any]]:
        used: dict[LimitKind, Any] = {
            "model_calls": self._model_calls,
            "tool_calls": self._tool_calls,
            "tokens": self._tokens,
            "cost": self._cost,
            "seconds": self._stopwatch.seconds,
        }
        for kind, amount in used.items():
            limit: Any = getattr(self.budget, kind)
            if limit is None or kind in self._warned:
                continue
            if Decimal(amount) >= warned_from(limit):
                self._warned.add(kind)
                is_count = isinstance(limit, int) and isinstance(amount, int)
                number = int if is_count else float
                yield {"kind": kind, "used": number(amount), "limit": number(limit), **self._about}

    def _count_turn(self, change: int) -> None:
        """Note that a turn which draws on this account has begun or ended."""


def warned_from(limit: float | Decimal) -> Decimal:
    """Return the amount of a limit from which on there is a warning."""
    return Decimal(limit) * WARNING_SHARE


def _count_noun(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
