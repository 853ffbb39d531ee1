"""The progress that a tool reports, as events at a rate that people can follow."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

import anyio

from amplifier_providers.running.loop_thread import caller_into_loop

from .hook_points import HookPoints

logger = logging.getLogger(__name__)

TOOL_PROGRESS = "tool:progress"
"""Event: a tool tells how far it is."""
MAX_REPORTS_PER_SECOND = 30
"""How many events a call may cause; a display does not draw more often."""

Start: TypeAlias = Callable[[Callable[[], Coroutine[Any, Any, None]], Callable[[], None]], object]
"""Runs a function at the same time, and calls another once it has ended."""


class Progress:
    """The reports of one call, from any thread.

    Of reports that come faster than `MAX_REPORTS_PER_SECOND` only the newest is emitted. The last
    one is always emitted, before the call ends.
    """

    __slots__ = (
        "_call",
        "_call_soon",
        "_clock",
        "_ended",
        "_hooks",
        "_is_asked",
        "_is_emitting",
        "_is_over",
        "_newest",
        "_pause",
        "_sleep",
        "_start",
        "has_reports",
    )

    def __init__(
        self,
        hooks: HookPoints,
        call: dict[str, Any],
        start: Start,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        call_soon: Callable[[Callable[[], object]], Any] | None = None,
    ) -> None:
        """Emit reports about a call.

        Args:
            hooks: Where the events go.
            call: What each event says of the call.
            start: Runs what emits the events.
            clock: Returns seconds.
            sleep: Waits for seconds.
            call_soon: Calls a function soon in the event loop, from any thread; None to ask the
                loop that runs here.
        """
        self._hooks = hooks
        self._call = call
        self._start = start
        self._clock = clock
        self._sleep = sleep
        self._call_soon = call_soon or caller_into_loop()
        self.has_reports = False
        """Whether the tool has reported anything."""
        self._is_over = self._is_asked = self._is_emitting = False
        self._newest: dict[str, Any] | None = None
        self._pause: anyio.CancelScope | None = None
        self._ended: anyio.Event | None = None

    def report(self, progress: dict[str, Any]) -> None:
        """Take a report; it is ignored once the call is over."""
        if self._is_over:
            return
        self.has_reports = True
        self._newest = progress
        if not self._is_asked:
            self._is_asked = True
            self._call_soon(self._begin)

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
            self._start(self._emit, self._ended.set)

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
