"""A stored conversation on its way back into a context, and the calls that a process left open."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from ..contexts.history_events import REPAIR, HistoryEvents, from_source
from .stored_history import OpenCall, StoredHistory

_UNKNOWN = (
    "The outcome of this call is unknown: the process ended while it ran, so it may have had its"
    " effect. Find out before you call it again."
)
_NOT_STARTED = "Not run: the process ended before this call began."


async def fill_context(context: Any, history: StoredHistory) -> None:
    """Add the stored messages to an empty context; they are no events, as they were before."""
    events = getattr(context, "history_events", None)
    is_ours = isinstance(events, HistoryEvents)
    with events.restoring(history.number) if is_ours else nullcontext():
        for message in history.messages:
            await context.add_message(message)


async def answer_open_calls(context: Any, history: StoredHistory) -> None:
    """Add a result for each call that has none, as every provider needs one; they are events.

    A call that ended has its own result. Of another the model is told that it never began, or that
    nobody knows what it did: it is not run again in silence.
    """
    calls = history.take_open_calls()
    with from_source(REPAIR):
        for call in calls:
            await context.add_message(call.result or _make_result(call))


def _make_result(call: OpenCall) -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": call.id,
        "name": call.name,
        "content": _UNKNOWN if call.was_started else _NOT_STARTED,
        "is_error": True,
        "metadata": {"outcome": "unknown" if call.was_started else "not_started"},
    }
