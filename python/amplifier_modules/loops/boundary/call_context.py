"""A tool call as its tool sees it: the context that it can ask, and the progress that it reports."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from amplifier_core.session_capabilities import SESSION_JOURNAL, SESSION_STATE, TOOL_PROGRESS_REPORT
from amplifier_providers.prices.allowance import CALL_ALLOWANCE

from ...tool.context import CURRENT, AskedBefore, ToolContext
from .cancellation import in_own_nursery
from .hook_points import HookPoints
from .together import Together, absorb_cancellation

logger = logging.getLogger(__name__)

TOOL_PROGRESS = "tool:progress"
"""Event: a tool reports its progress."""
MAX_REPORTS_PER_SECOND = 30
"""How many events a call may cause; a display does not draw more often."""


class Progress:
    """The reports of one call, from any thread.

    Of reports that come faster than `MAX_REPORTS_PER_SECOND` only the newest is emitted. The last
    one is always emitted, before the call ends.
    """

    # Defaults in the class: most calls report nothing.
    has_reports = False
    """Whether the tool has reported anything."""
    _is_over = _is_asked = _is_emitting = False
    _newest: dict[str, Any] | None = None
    _pause: anyio.CancelScope | None = None
    _ended: anyio.Event | None = None

    def __init__(
        self,
        hooks: HookPoints,
        call: dict[str, Any],
        group: Together,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Emit reports about a call.

        Args:
            hooks: Where the events go.
            call: What each event says of the call.
            group: Runs what emits the events.
            clock: Returns seconds.
            sleep: Waits for seconds.
        """
        self._hooks = hooks
        self._call = call
        self._group = group
        self._clock = clock
        self._sleep = sleep

    def report(self, progress: dict[str, Any]) -> None:
        """Take a report; it is ignored once the call is over."""
        if self._is_over:
            return
        self.has_reports = True
        self._newest = progress
        if not self._is_asked:
            self._is_asked = True
            self._group.call_soon(self._begin)

    async def finish(self) -> None:
        """Emit the last report; later ones are ignored."""
        self.close()
        if self._ended is not None:
            await self._ended.wait()
        await self._emit_newest()

    def close(self) -> None:
        """Ignore all later reports, and those that are not emitted yet unless `finish` follows."""
        self._is_over = True
        if self._pause is not None:
            self._pause.cancel()

    def _begin(self) -> None:
        if not self._is_over and not self._is_emitting:
            self._is_emitting = True
            self._ended = anyio.Event()
            self._group.start(self._emit, self._ended.set)

    async def _emit(self) -> None:
        """Emit the newest report now and then, as long as there are new ones."""
        while self._newest is not None and not self._is_over:
            again_at = self._clock() + 1 / MAX_REPORTS_PER_SECOND
            await self._emit_newest()
            if not self._is_over:
                with anyio.CancelScope() as self._pause:
                    await self._sleep(max(0.0, again_at - self._clock()))
        self._is_emitting = False

    async def _emit_newest(self) -> None:
        self._is_asked = False
        report, self._newest = self._newest, None
        if report is None:
            return
        try:
            await self._hooks.emit(TOOL_PROGRESS, {**self._call, **report})
        except Exception:
            # A report that cannot be emitted is no failure of the tool.
            logger.exception("the progress of tool `%s` is not shown", self._call["tool_name"])


TOOL_START = "tool:start"
"""Event: a tool begins; it was allowed to."""
TOOL_STEP = "tool:step"
"""What is stored of a call that is to go on from there in another process; no hook sees it."""
TOOL_RESULT = "tool:result"
"""Event: a call has ended; its data has the message that the history gets."""


@dataclass(slots=True)
class CallPlace:
    """Where the calls of a response run, as their tools see it."""

    hooks: HookPoints
    """Where the events go."""
    state: Any
    """What the session was given as `state`."""
    session_id: str
    """The id of the session; empty without one."""
    journal: Any
    """What stores the session; None where nothing does."""
    question_journal: Any
    """What keeps the questions of the session; None without a store."""

    def find_key(self, call_id: str) -> str:
        """Return what stays the same when a call is repeated."""
        stored = None if self.journal is None else self.journal.find_key(call_id)
        return stored or f"{self.session_id}/{call_id}"


def place_of_calls(hooks: HookPoints) -> CallPlace:
    """Return where the calls of a response run."""
    coordinator = hooks.coordinator
    capability = getattr(coordinator, "get_capability", None)
    state = journal = None
    if callable(capability):
        state, journal = capability(SESSION_STATE), capability(SESSION_JOURNAL)
    session_id = str(getattr(coordinator, "session_id", "") or "")
    return CallPlace(hooks, state, session_id, journal, hooks.find_journal())


async def run_in_context(
    place: CallPlace,
    about: dict[str, Any],
    run: Callable[[], tuple[Awaitable[Any] | None, Any]],
    group: Together,
    is_stopping: Callable[[], bool],
    *,
    is_approved: bool = False,
    asked_before: AskedBefore | None = None,
    continues_calls: bool = False,
) -> Any:
    """Run a tool in the context of its call, and emit what it reports.

    Args:
        place: Where it runs.
        about: What events say of the call.
        run: Begins to run the tool, as `begin_contained` does.
        group: Runs the calls of the round, and can run something at the same time.
        is_stopping: Whether the calls of the round are cancelled.
        is_approved: Whether a person agreed to the call.
        asked_before: What it has asked in a process that ended; None for a call that begins.
        continues_calls: Whether the tool can go on with a call of another process.

    Raises:
        Exception: What the tool raised.
    """
    call_id, hooks = about["tool_call_id"], place.hooks
    progress = Progress(hooks, about, group)
    keeps_questions = place.question_journal is not None
    context: ToolContext[Any] = ToolContext(
        call_id,
        place.find_key(call_id),
        hooks.coordinator,
        place.state,
        progress.report,
        about["tool_name"] if is_approved else None,
        0 if place.journal is None else place.journal.epoch,
        partial(hooks.ask_during_call, about),
        asked_before,
        keeps_questions=keeps_questions,
        can_go_on=keeps_questions and continues_calls,
        steps=place.question_journal if continues_calls else None,
    )
    token = CURRENT.set(context)
    # What a tool asks of models is none of the answer that may still arrive around it.
    allowance = CALL_ALLOWANCE.set(None)
    is_closed, task = False, group.find_task()
    try:
        if task is None:
            return await in_own_nursery(partial(_await_all, run))
        rest, result = run()
        return result if rest is None else await rest
    except GeneratorExit:
        is_closed = True  # nothing can be awaited any more
        raise
    finally:
        CURRENT.reset(token)
        CALL_ALLOWANCE.reset(allowance)
        is_over = is_closed or is_stopping()
        if task is not None and task.cancelling() and not is_over:
            await absorb_cancellation(task)
        if is_over or not progress.has_reports:
            progress.close()
        else:
            await progress.finish()


async def _await_all(run: Callable[[], tuple[Awaitable[Any] | None, Any]]) -> Any:
    rest, result = run()
    return result if rest is None else await rest


def offer_progress(coordinator: Any) -> None:
    """Register the capability `tool.progress`, for tools that know their coordinator alone."""
    coordinator.register_capability(TOOL_PROGRESS_REPORT, report_progress)


def report_progress(message: str, fraction: float | None = None) -> None:
    """Report how far the call is that runs here: `ToolContext.current().progress(…)`.

    Raises:
        LookupError: No tool of one of our loops runs here.
        TypeError: The message is no text.
        ValueError: The fraction is outside 0 to 1.
    """
    ToolContext.current().progress(message, fraction)
