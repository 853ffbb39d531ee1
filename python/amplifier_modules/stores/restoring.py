"""What is stored of a session on its way back: its conversation, its states, its open calls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, cast

from ..contexts.history_events import REPAIR, HistoryEvents, from_source
from ..running.kept_state import KeptState
from .stored_history import StoredHistory


async def fill_context(context: Any, history: StoredHistory) -> bool:
    """Add the stored messages to a context; they are no events, as they were before.

    A context that has messages keeps them as they are: it stores them itself.

    Returns:
        Whether they were added.
    """
    if await context.get_messages():
        return False
    if (texts := getattr(context, "stored_texts", None)) is not None:
        for text in history.texts:
            texts.put(text)
    events = getattr(context, "history_events", None)
    is_ours = isinstance(events, HistoryEvents)
    with events.restoring(history.number) if is_ours else nullcontext():
        for message in history.messages:
            await context.add_message(message)
    return True


def list_states(module: Any, coordinator: Any) -> Sequence[KeptState]:
    """Return what a context, a loop or a tool keeps of a session; nothing of one that does not say."""
    found = getattr(module, "kept_states", None)
    return cast("Sequence[KeptState]", found(coordinator)) if callable(found) else ()


def restore_states(module: Any, coordinator: Any, history: StoredHistory) -> None:
    """Give a context, a loop or a tool what is stored of its states, and of its shared budget."""
    for state in list_states(module, coordinator):
        if (body := history.states.get(state.kind)) is not None:
            state.restore(body)
    if callable(restore_spending := getattr(module, "restore_spending", None)):
        restore_spending(coordinator, history.shared_spending)


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
