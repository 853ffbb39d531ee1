"""The tool calls of one response: run concurrently, with results in the order of the calls."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any, Self, TypeVar

from amplifier_core import world
from amplifier_core.interruption import Interruption
from amplifier_core.message_models import ChatResponse, TextBlock

from ..spending.account import Limit
from ..tool.endings import ToolExitError
from .answers.response import RequestedCall
from .boundary.call_context import place_of_calls
from .boundary.together import Begin, Together, find_together
from .call_errors import error_of_call
from .recoverable_errors import RecoverableError
from .tool_answer import INTERRUPTED, NOT_STARTED
from .tool_call import CallRun, Repetition
from .turn_state import TurnState

__all__ = ["INTERRUPTED", "NOT_STARTED", "ToolRound"]

Asked = TypeVar("Asked")

REFUSED_SHARE = 9
"""How many times as many calls as may run are stored; what an answer has beyond is left out."""


class ToolRound:
    """The calls of one response and their results: `async with ToolRound(…) as calls: ...`.

    Calls begin in their order, as many at the same time as the rules allow; the call of a tool that
    is not `parallel` begins when no other runs, and none begins while it runs. A call that waits
    for its turn is not judged yet.

    However the block ends, the history then has one result for each call that it has, so that
    providers accept it. If the block ends before the answer of the model was complete, the history
    has as much of it as ran: the calls that were started, and `text_so_far` before them.
    """

    _together: Together

    def __init__(self, state: TurnState) -> None:
        """Prepare to run calls in a turn."""
        self._state = state
        most, recovery = state.rules.most_at_once, state.recovery
        self._most = math.inf if most is None else most
        self._equal_errors = (
            None if recovery is not None and recovery.owns_calls else state.equal_errors
        )
        self._place = place_of_calls(state.hooks)
        self._group_id = world.random_bytes(16).hex()
        self._calls: list[CallRun] = []
        self._waiting: deque[CallRun] = deque()
        self._withdrawn: list[CallRun] = []
        """Calls that run, or ran, and that the provider took back."""
        self._running: dict[CallRun, Callable[[], object]] = {}
        self._notes: list[str | None] = []
        self._is_alone = False
        """Whether the call that began last is exclusive: then it is the only one that runs."""
        self._asking: Interruption | None = None
        self._is_remembered = False
        self.results: list[dict[str, Any]] = []
        """The results as they are stored, in the order of the calls, once all have ended."""
        self.text_so_far: Callable[[], str] = str
        """Returns what the model has written, for the history if its answer fails."""

    async def __aenter__(self) -> Self:
        """Begin."""
        self._together = find_together()
        await self._together.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """End when no call runs any more; cancel those that run where the block raises.

        Raises:
            BaseException: Ctrl+C, which a call of the round received.
        """
        try:
            if error is not None:
                self._waiting.clear()
            if error is not None or self._state.cancellation.is_cancelled:
                # No turn goes on from here, so that each call needs a result.
                for call in self._calls:
                    call.is_put_off = False
            if isinstance(error, Exception):
                await self._give_up()
            is_handled = await self._together.__aexit__(kind, error, trace)
            for call in self._calls:
                if call.interrupt is not None:
                    raise call.interrupt
            if error is None or is_handled:
                await self._settle()
        finally:
            try:
                if self._calls and not self._is_remembered:
                    text = self.text_so_far()
                    written = [TextBlock(text=text)] if text else []
                    await self._remember(ChatResponse(content=[*written]))
            finally:
                # Also where the task was cancelled again meanwhile: what is stored has its results.
                if self._state.history.awaits_results:
                    self.results = self.make_messages()
                    await self._state.history.add_results(self.results)
        return is_handled

    @property
    def count(self) -> int:
        """The number of calls."""
        return len(self._calls)

    @property
    def runs(self) -> tuple[CallRun, ...]:
        """The calls and what is known of their results, in their order."""
        return tuple(self._calls)

    @property
    def requested(self) -> list[RequestedCall]:
        """The calls that have results, in their order."""
        return [call.requested for call in self._calls if not call.is_put_off]

    @property
    def put_off(self) -> list[RequestedCall]:
        """The calls that wait for a person who answers when the turn has ended."""
        return [call.requested for call in self._calls if call.is_put_off]

    @property
    def limit(self) -> Limit | None:
        """The limit that kept a call from running, if one did."""
        for call in self._calls:
            if call.limit is not None:
                return call.limit
        return None

    @property
    def final_answer(self) -> str | None:
        """The answer of the turn: the output of the first call that ends it; None without one."""
        for call in self._calls:
            if call.final_answer is not None:
                return call.final_answer
        return None

    def list_errors(self) -> list[RecoverableError]:
        """Return the errors of the calls, in their order."""
        return [
            error_of_call(index, call.requested, call.answer, call.failure)
            for index, call in enumerate(self._calls)
            if call.answer.is_error
        ]

    async def ask(self, answer: Awaitable[Asked]) -> Asked:
        """Await the answer of the model, whose calls `start` is given as they arrive.

        Raises:
            BaseException: Ctrl+C, which a call received.
            Exception: What the model raised.
        """
        with Interruption() as self._asking:
            return await answer
        raise next(call.interrupt for call in self._calls if call.interrupt is not None)

    def start(self, call: RequestedCall) -> None:
        """Run a call as soon as it may, while the model still writes its answer.

        An answer that starts again has the result of an equal call that already ran.
        """
        if (same := _take_run(self._withdrawn, call)) is not None:
            same.requested = call
            return
        self._add(call)
        # Soon, and not at once: that would hold the answer up.
        self._begin_next(self._together.start)

    def withdraw(self, call_id: str) -> None:
        """Keep a call from running that the model's answer has no more; what runs goes on."""
        for call in self._calls:
            if call.requested.id != call_id or call in self._withdrawn:
                continue
            if call.has_begun:
                self._withdrawn.append(call)
            else:
                self._forget(call)
            return

    def _forget(self, call: CallRun) -> None:
        """Take out a call whose tool was not started."""
        self._calls.remove(call)
        if call in self._waiting:
            self._waiting.remove(call)
        elif (cancel := self._running.get(call)) is not None:
            call.is_given_up = True
            cancel()

    async def remember(self, response: ChatResponse, calls: Iterable[RequestedCall]) -> None:
        """Store the complete answer with its calls.

        A call that was begun although the answer lacks it is stored after the others; one that still
        waits is not run.
        """
        started, self._calls = self._calls, []
        for call in islice(calls, self._state.rules.most_calls * REFUSED_SHARE):
            if started and (early := _take_run(started, call)) is not None:
                early.requested = call  # as the answer has it
                self._calls.append(early)
            else:
                self._add(call)
        waiting = [call for call in started if call in self._waiting]
        self._calls += started
        for call in waiting:
            self._forget(call)
        await self._remember(response)

    async def finish(self) -> None:
        """Run the calls that have not begun, and wait for all."""
        state = self._state
        while True:
            if self._waiting and state.loop.pausing.is_on:
                await state.loop.pausing.wait(
                    state.hooks, state.cancellation, "tools", state.report.iterations
                )
            self._begin_next(self._together.begin)
            await self._together.wait()
            if not self._waiting or self._together.is_stopping:
                return

    async def run_again(self, calls: Iterable[tuple[RequestedCall, Repetition | None]]) -> None:
        """Run calls that the history has already; their results are in `results`.

        Args:
            calls: The calls, each with what it repeats; None for one that was not started.
        """
        self._is_remembered = True
        for call, repetition in calls:
            self._add(call)
            self._calls[-1].repetition = repetition
        await self.finish()
        self.results = self.make_messages()

    async def _remember(self, response: ChatResponse) -> None:
        self._is_remembered = True
        await self._state.history.add_response(response, [call.requested for call in self._calls])

    async def _give_up(self) -> None:
        """Wait for the calls that run, as the answer of the model has failed.

        What runs has effects that the model must hear of, unless its tool is `read_only`: such a
        call is ended, and so is one that is still judged.
        """
        for call, cancel in list(self._running.items()):
            if call.is_read_only or not call.has_begun:
                call.is_given_up = True
                cancel()
        await self._together.wait()

    def make_messages(self) -> list[dict[str, Any]]:
        """Return the results as tool messages, in the order of the calls."""
        notes = self._notes or [None] * len(self._calls)
        return [
            call.make_message(note)
            for call, note in zip(self._calls, notes, strict=True)
            if not call.is_put_off
        ]

    def _add(self, call: RequestedCall) -> None:
        run = CallRun(call, self._state, self._place, self._together, self._group_id)
        run.is_past_limit = len(self._calls) >= self._state.rules.most_calls
        self._calls.append(run)
        self._waiting.append(run)

    def _begin_next(self, begin: Begin) -> None:
        """Begin the calls whose turn it is; `begin` is a method of what runs them together."""
        pausing, cancellation = self._state.loop.pausing, self._state.cancellation
        waiting, running, group = self._waiting, self._running, self._together
        while waiting and len(running) < self._most and not group.is_stopping:
            if pausing.is_on and not cancellation.is_cancelled:
                return
            call = waiting[0]
            if running and (call.is_exclusive or self._is_alone):
                return
            waiting.popleft()
            cancel = begin(call.run, partial(self._call_ended, call))
            if cancel is None:
                if call.interrupt is not None:
                    self._look_for_interrupt(call)
            else:
                running[call] = cancel
                self._is_alone = call.is_exclusive

    def _call_ended(self, call: CallRun) -> None:
        del self._running[call]
        self._look_for_interrupt(call)
        if self._waiting:
            self._begin_next(self._together.start)

    def _look_for_interrupt(self, call: CallRun) -> None:
        if call.interrupt is not None:
            self._together.stop()
            if self._asking is not None:
                self._asking.end()

    async def _settle(self) -> None:
        """Answer the calls that something else ended, and count the errors."""
        for call in self._calls:
            if not (call.has_ended or call.is_given_up or call.is_put_off):
                await call.fail(ToolExitError("was cancelled", has_begun=call.has_begun))
        if self._equal_errors is None or self.put_off:
            return
        if not self._equal_errors.has_no_progress(self._calls):
            answered = [(call.requested, call.answer) for call in self._calls]
            self._notes = self._equal_errors.note(answered)


def _take_run(started: list[CallRun], call: RequestedCall) -> CallRun | None:
    """Take the run of this call out of those that were started, if it is there.

    A call that has no id gets another one whenever it is read: then name and arguments tell.
    """
    for index, run in enumerate(started):
        if run.requested.id == call.id:
            return started.pop(index)
    for index, run in enumerate(started):
        if (run.requested.name, run.requested.arguments) == (call.name, call.arguments):
            return started.pop(index)
    return None
