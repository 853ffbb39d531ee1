"""Gives a session a context that a program has made."""

from __future__ import annotations

from typing import Any

from .history_events import connect_history_events
from .simple import SimpleContext


async def attach_context(coordinator: Any, context: Any) -> None:
    """Mount a context; ours as their modules mount them, until the session ends.

    What is put aside, and the file of a conversation, belong to the program and stay.
    """
    if isinstance(context, SimpleContext):
        coordinator.register_cleanup(await context.attach(coordinator))
    else:
        await coordinator.mount("context", context)
    history_events = await connect_history_events(context, coordinator.hooks)
    if history_events is not None:
        await history_events.emit()
