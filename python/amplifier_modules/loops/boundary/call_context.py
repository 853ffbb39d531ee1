"""A tool call as its tool sees it: the context that it can ask, and the progress that it reports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from amplifier_core._kernel.capability_names import SESSION_STATE, TOOL_PROGRESS_REPORT
from amplifier_providers.prices.allowance import CALL_ALLOWANCE

from ...tool.context import CURRENT, ToolContext
from .call_progress import Progress
from .contained import in_own_nursery
from .hook_points import HookPoints
from .together import Together, absorb_cancellation

TOOL_START = "tool:start"
"""Event: a tool begins; it was allowed to."""


async def run_in_context(
    hooks: HookPoints,
    about: dict[str, Any],
    run: Callable[[], Awaitable[Any]],
    group: Together,
    is_stopping: Callable[[], bool],
    *,
    is_approved: bool = False,
) -> Any:
    """Run a tool in the context of its call, and emit what it reports.

    Args:
        hooks: Where the events go.
        about: What events say of the call.
        run: Runs the tool.
        group: Runs the calls of the round, and can run something at the same time.
        is_stopping: Whether the calls of the round are cancelled.
        is_approved: Whether a person agreed to the call.

    Raises:
        Exception: What the tool raised.
    """
    call_id, coordinator = about["tool_call_id"], hooks.coordinator
    progress = Progress(hooks, about, group.start, anyio.current_time, anyio.sleep, group.call_soon)
    key = f"{getattr(coordinator, 'session_id', '') or ''}/{call_id}"
    capability = getattr(coordinator, "get_capability", None)
    state = capability(SESSION_STATE) if callable(capability) else None
    approved = about["tool_name"] if is_approved else None
    context: ToolContext[Any] = ToolContext(
        call_id, key, coordinator, state, progress.report, approved
    )
    token = CURRENT.set(context)
    # What a tool asks of models is none of the answer that may still arrive around it.
    allowance = CALL_ALLOWANCE.set(None)
    is_closed, task = False, group.task()
    try:
        return await (in_own_nursery(run) if task is None else run())
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
