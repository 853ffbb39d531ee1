"""A stored conversation on its way back into a context, and the calls that a process left open."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from ..contexts.history_events import REPAIR, HistoryEvents, from_source
from .stored_history import StoredHistory


async def fill_context(context: Any, history: StoredHistory) -> None:
    """Add the stored messages to a context; they are no events, as they were before.

    A context that has messages keeps them as they are: it stores them itself.
    """
    if await context.get_messages():
        return
    if (texts := getattr(context, "stored_texts", None)) is not None:
        for text in history.texts:
            texts.put(text)
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
        for call in calls.written:
            await context.add_message(call.make_result())
        if (answer := calls.make_answer()) is not None:
            await context.add_message(answer)
        for call in calls.unwritten:
            await context.add_message(call.make_result())
