"""A tool call as its tool sees it: the context that it can ask, and the progress that it tells."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from amplifier_core._kernel.capability_names import SESSION_STATE

from ..loop_thread import caller_into_loop
from ..tool_context import CURRENT, ToolContext
from .hook_points import HookPoints

TOOL_START = "tool:start"
"""Event: a tool begins; it was allowed to."""
TOOL_PROGRESS = "tool:progress"
"""Event: a tool tells how far it is."""


class Progress:
    """What a tool reports, from any thread, until it is emitted."""

    def __init__(self, hooks: HookPoints, call: dict[str, Any]) -> None:
        """Emit reports about this call."""
        self._hooks = hooks
        self._call = call
        self._waiting: deque[dict[str, Any]] = deque()
        self._wake: Callable[[], object] | None = None
        self._is_over = False

    def report(self, progress: dict[str, Any]) -> None:
        """Keep a report, and wake who emits them."""
        self._waiting.append(progress)
        if self._wake is not None:
            self._wake()

    def finish(self) -> None:
        """Have `emit` end once all reports are emitted."""
        self._is_over = True
        if self._wake is not None:
            self._wake()

    async def emit_waiting(self) -> None:
        """Emit what was reported so far."""
        while self._waiting:
            await self._hooks.emit(TOOL_PROGRESS, {**self._call, **self._waiting.popleft()})

    async def emit(self) -> None:
        """Emit each report soon after it was made, until `finish`."""
        call_soon = caller_into_loop()
        arrived = anyio.Event()
        self._wake = lambda: call_soon(lambda: arrived.set())
        while True:
            await self.emit_waiting()
            if self._is_over:
                return
            await arrived.wait()
            arrived = anyio.Event()


async def run_in_context(
    call_id: str,
    tool: Any,
    hooks: HookPoints,
    about: dict[str, Any],
    run: Callable[[], Awaitable[Any]],
) -> Any:
    """Run a tool in the context of its call, and emit what it reports.

    Raises:
        Exception: What the tool raised.
    """
    coordinator = hooks.coordinator
    progress = Progress(hooks, about)
    key = f"{getattr(coordinator, 'session_id', '') or ''}/{call_id}"
    context: ToolContext[Any] = ToolContext(
        call_id, key, coordinator, _state(coordinator), progress.report
    )
    token = CURRENT.set(context)
    try:
        if getattr(tool, "takes_context", False) is True:
            return await _reported(progress, run)
        try:
            return await run()
        finally:
            await progress.emit_waiting()
    finally:
        CURRENT.reset(token)


async def _reported(progress: Progress, run: Callable[[], Awaitable[Any]]) -> Any:
    """Run a tool while its reports are emitted."""
    result: Any = None
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(progress.emit)
        try:
            result = await run()
        except Exception as error:  # noqa: BLE001 -- raised outside the group, which would wrap it
            failure = error
        progress.finish()
    if failure is not None:
        raise failure
    return result


def _state(coordinator: Any) -> Any:
    capability = getattr(coordinator, "get_capability", None)
    return capability(SESSION_STATE) if callable(capability) else None
