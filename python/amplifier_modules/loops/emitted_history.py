"""The history of a session as events, whatever context stores it."""

from __future__ import annotations

from typing import Any, cast

from ..contexts.history_events import HistoryEvents, connect_history_events


class EmittedHistory:
    """Has the events of a history emitted, over all turns of a loop.

    A context that has `history_events`, like ours, emits each change itself. For any other, the
    loop emits what it finds: it looks at the number of messages and at the last one it knows, when
    a turn begins and ends, before each model call and after each message that it adds.
    """

    def __init__(self) -> None:
        """Know no context yet."""
        self._context: Any = None
        self._events = HistoryEvents(None)
        self.emits_itself = False
        """Whether the context emits its changes itself."""
        self._count = 0
        self._last: Any = None

    def continues_with(self, context: Any, hooks: Any) -> bool:
        """Whether `begin` has nothing to emit.

        The context and the registry are those of before, and the context emits its changes itself.
        """
        return (
            self.has_emitted_all()
            and context is self._context
            and context.history_events is self._events
            and self._events.is_connected_to(hooks)
        )

    async def begin(self, context: Any, hooks: Any) -> None:
        """Emit the events of this context from now on, first those of what it has already.

        Args:
            context: The context of the session.
            hooks: The registry that gets the events.
        """
        own = await connect_history_events(context, hooks)
        self.emits_itself = own is not None
        if own is not None:
            self._events = own
        elif context is not self._context or not self._events.is_connected_to(hooks):
            self._events, self._count = HistoryEvents(hooks), 0
        self._context = context
        await self.emit()

    def has_emitted_all(self) -> bool:
        """Whether the context has emitted every change itself, so that `emit` would do nothing."""
        return self.emits_itself and self._events.has_emitted_all

    async def emit(self) -> None:
        """Emit what has changed."""
        await self._events.emit()
        if self._context is None or self.emits_itself:
            return
        # Handlers of the events may add messages, too.
        while await self._look():
            await self._events.emit()

    async def _look(self) -> bool:
        """Note what is new; whether anything was."""
        found: Any = await self._context.get_messages()
        if not isinstance(found, list):
            return False
        messages = cast("list[Any]", found)
        known = self._count
        is_continuation = len(messages) >= known and (
            not known or messages[known - 1] == self._last
        )
        if is_continuation:
            for index in range(known, len(messages)):
                self._events.note_message(messages[index], index)
        else:
            self._events.note_replacement(known, messages)
        self._count = len(messages)
        self._last = messages[-1] if messages else None
        return not is_continuation or len(messages) > known
