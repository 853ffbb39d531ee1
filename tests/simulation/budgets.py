"""What turns use of their budgets, counted by the models and tools themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from broken import BrokenPromiseError

from amplifier_modules.spending.budget import Budget

GRACE_SECONDS = 45.0
"""How long after its last second a turn may take to end: what it waits for may be stubborn."""

WARNING_SHARE = 0.81
"""The share of its seconds up to which a turn warns; a little more than it should."""

_USED_UP = re.compile(r"the budget of ([\d,]+) model calls? is used up")


class SpentTurn:
    """What a turn and the sub-agents within it have used."""

    def __init__(
        self, session_id: str, budget: Budget | None, around: SpentTurn | None, began: float
    ) -> None:
        """Begin a turn with nothing used.

        Args:
            session_id: Whose turn it is.
            budget: What it may use; None for no limit.
            around: The turn on whose budget it draws.
            began: The second at which it began.
        """
        self.session_id = session_id
        self.budget = budget or Budget(model_calls=None)
        self.around = around
        self.began = began
        self.is_cancelled = False
        self._requests = 0
        self._model_calls = 0
        self._tool_calls = 0
        self._tokens = 0
        self._cost = Decimal(0)
        self._last: dict[str, tuple[int, Decimal]] = {}
        self._calls_after_cancellation = 0
        self._warned: set[str] = set()
        self._asking: list[float] = []
        """When the questions began that a person has not answered yet, of the turns within too."""
        self._own_questions = 0
        self._asked_seconds = 0.0
        """How long people were asked, which no budget pays for."""

    def chain(self) -> Iterator[SpentTurn]:
        """Yield the turn and those around it."""
        turn: SpentTurn | None = self
        while turn is not None:
            yield turn
            turn = turn.around

    def note_request(self, *, is_aside: bool) -> None:
        """Count a call of the model that is being prepared, in the conversation or beside it.

        Raises:
            BrokenPromiseError: It is one more than a cancelled turn may prepare.
        """
        for turn in self.chain():
            turn._requests += 1
        if any(turn.is_cancelled for turn in self.chain()) and not is_aside:
            # One may be on its way while the cancellation comes.
            self._calls_after_cancellation += 1
            if self._calls_after_cancellation > 1:
                raise BrokenPromiseError(
                    f"`{self.session_id}` goes on to call the model in a cancelled turn"
                )

    def begin_call(self, *, is_closing: bool) -> None:
        """Count a model call that begins.

        Raises:
            BrokenPromiseError: It is one more than the budget allows.
        """
        for turn in self.chain():
            turn._model_calls += not is_closing
            most = turn.budget.model_calls
            if most is not None and turn._model_calls > most:
                raise BrokenPromiseError(
                    f"model call {turn._model_calls} of a turn of `{turn.session_id}`, which may"
                    f" make {most}"
                )

    def fail_call(self, *, is_closing: bool) -> None:
        """Take back a model call that failed."""
        for turn in self.chain():
            turn._model_calls -= not is_closing

    def end_call(self, tokens: int, cost: Decimal) -> None:
        """Count what a model call used.

        Raises:
            BrokenPromiseError: More is overspent than by the last call of each session.
        """
        for turn in self.chain():
            turn._tokens += tokens
            turn._cost += cost
            turn._last[self.session_id] = tokens, cost
            used = turn._tokens - sum(each for each, _ in turn._last.values())
            paid = turn._cost - sum(each for _, each in turn._last.values())
            for kind, amount, limit in (
                ("tokens", used, turn.budget.tokens),
                ("US dollars", paid, turn.budget.cost),
            ):
                if limit is not None and amount >= limit:
                    raise BrokenPromiseError(
                        f"{amount} {kind} were used of {limit}, and models were called once more"
                    )

    def begin_tool(self) -> None:
        """Count a tool call that begins.

        Raises:
            BrokenPromiseError: It is one more than the budget allows.
        """
        for turn in self.chain():
            turn._tool_calls += 1
            most = turn.budget.tool_calls
            if most is not None and turn._tool_calls > most:
                raise BrokenPromiseError(
                    f"tool call {turn._tool_calls} of a turn of `{turn.session_id}`, which may make"
                    f" {most}"
                )

    def note_question(self, now: float) -> None:
        """Note that a person is asked."""
        self._own_questions += 1
        for turn in self.chain():
            turn._asking.append(now)

    def note_answer(self, now: float) -> None:
        """Note that a person has answered, or is asked no more."""
        if not self._own_questions:
            return
        self._own_questions -= 1
        for turn in self.chain():
            began = turn._asking.pop(0)
            if not turn._asking:
                turn._asked_seconds += now - began
            else:
                turn._asking[0] = began

    def note_warning(self, kind: str, now: float) -> None:
        """Note that most of a limit is told to be used up.

        Raises:
            BrokenPromiseError: It was told before, or that of the time is told late.
        """
        if kind in self._warned:
            raise BrokenPromiseError(f"`{self.session_id}` warns twice of its `{kind}`")
        self._warned.add(kind)
        seconds = self.budget.seconds
        latest = self.began + self._asked_seconds + WARNING_SHARE * (seconds or 0)
        if kind == "seconds" and (seconds is None or (not self._asking and now > latest)):
            raise BrokenPromiseError(f"a warning came {now - self.began} s after the beginning")

    def end(self, now: float, reason: str | None) -> None:
        """End the turn.

        Args:
            now: The second.
            reason: Why it ended early, as it says itself.

        Raises:
            BrokenPromiseError: It took longer than it may, or names a limit that is not reached.
        """
        while self._own_questions:
            self.note_answer(now)
        for turn in self.chain():
            most = turn.budget.seconds
            latest = turn.began + turn._asked_seconds + (most or 0) + GRACE_SECONDS
            if most is not None and now > latest and turn is self:
                raise BrokenPromiseError(f"the turn took {now - self.began} s of {most}")
        named = _USED_UP.search(reason or "")
        if named is None:
            return
        most = int(named[1].replace(",", ""))
        if not any(turn.budget.model_calls == most <= turn._requests for turn in self.chain()):
            raise BrokenPromiseError(f"{reason}, and not so many were made")
