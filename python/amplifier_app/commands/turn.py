"""One turn of a conversation, which signals can end, and how it ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from amplifier_app.commands.conversation import Conversation
from amplifier_app.failure import Failure, outcome_of_error
from amplifier_app.interrupt import Interruption
from amplifier_app.notice import show_notice
from amplifier_app.outcome import CUT_SHORT, Outcome, outcome_of_signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from amplifier_agent import Prompt, Result

_GRACE_SECONDS = 5.0
"""How long a cancelled turn may take."""


class Turn:
    """A turn in a task of its own: only that is cancelled, and what comes after it can await.

    Listen to the signals with `turn.interruption.installed()` while it runs.

    Args:
        conversation: What the turn belongs to.
        prompt: What the user says; None to go on with the turn that was not finished.
        leave: Ends the process with an exit code, when one more Ctrl+C comes.
        is_queued: Whether the prompt is the next one that another process has sent.
    """

    def __init__(
        self,
        conversation: Conversation,
        prompt: Prompt | None,
        leave: Callable[[int], object],
        *,
        is_queued: bool = False,
    ) -> None:
        self._conversation = conversation
        self._is_queued = is_queued
        self._task = asyncio.create_task(conversation.run(prompt, is_queued=is_queued))
        self._stopping = asyncio.Event()
        self.interruption = Interruption(conversation.token, self.stop, self._show, leave)
        self._is_withdrawn = False
        self.problem: BaseException | None = None
        """The notice about a turn without a whole answer, unless a signal ended it."""

    @property
    def is_stuck(self) -> bool:
        """Whether it waits for something that cannot be cancelled, such as a thread."""
        return not self._task.done()

    @property
    def is_stopping(self) -> bool:
        """Whether it was cancelled."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Cancel the turn."""
        self._task.cancel()
        self._stopping.set()

    def withdraw(self) -> None:
        """Cancel the turn, which nobody waits for any more: that is no problem."""
        self._is_withdrawn = True
        self._conversation.token.request_immediate()
        self.stop()

    async def end(self) -> Outcome:
        """Wait for the turn, for a limited time if it is cancelled, and return how it ended."""
        stopped = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({self._task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not self._task.done():
            await asyncio.wait({self._task}, timeout=_GRACE_SECONDS)
        result = self._conversation.result
        self.problem = self._find_problem(result)
        ending = self._find_outcome(result)
        if ending.status in ("cancelled", "error"):
            await self._conversation.keep_unfinished()
        return self._with_figures(ending, result)

    def _show(self, text: str) -> None:
        self._conversation.output.break_line()
        show_notice(text)

    def _find_problem(self, result: Result | None) -> BaseException | None:
        error = None
        if self._task.done() and not self._task.cancelled():
            error = self._task.exception()
        if self._is_withdrawn or self.interruption.exit_code:
            return None
        if result is not None and result.status == "completed":
            return None
        if error is not None:
            return error
        if result is None and self._is_queued:
            return None  # another process was the first to run it
        if result is None or result.status == "cancelled":
            hint = "run again with `--debug` for details"
            return Failure("a module cancelled the turn", hint=hint)
        if result.status == "limit" and result.goal is not None:
            hint = "say what is in the way, or set `goal_max_rounds` and others of the loop"
            return Failure(str(result.reason), hint=hint)
        if result.status == "limit":
            hint = "the answer may be incomplete; set `LOOP_MAX_ITERATIONS` to allow more"
            return Failure(f"the turn was ended: {result.reason}", hint=hint)
        if result.status == "truncated":
            hint = "ask for less at a time"
            return Failure(str(result.reason), hint=hint, exit_code=CUT_SHORT)
        return Failure(str(result.reason))

    def _find_outcome(self, result: Result | None) -> Outcome:
        if self.problem is not None:
            outcome = outcome_of_error(self.problem)
            if result is None or result.status not in ("denied", "limit", "truncated"):
                return outcome
            return replace(outcome, status=result.status, reason=result.reason, error=None)
        if result is not None and result.status == "completed":
            return Outcome(status="completed")
        return outcome_of_signal(self.interruption.reason, self.interruption.exit_code)

    def _with_figures(self, outcome: Outcome, result: Result | None) -> Outcome:
        outcome = replace(
            outcome,
            text="" if outcome.status == "denied" else self._conversation.text,
            content=self._conversation.content,
            session_id=self._conversation.stored_id,
        )
        if result is None:
            return outcome
        if result.goal is not None:
            outcome = replace(outcome, goal=vars(result.goal))
        usage = {**vars(result.usage), "total": result.usage.total}
        return replace(outcome, usage=usage, cost=None if result.cost is None else str(result.cost))
