"""The events from which a history can be rebuilt."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Coroutine, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

import anyio

from amplifier_core._kernel.interruption import Interruption, asyncio_loop
from amplifier_core._kernel.left_behind import Leaving, steps_of

from ..running.listeners import listener_check
from .message_source import REPLACEMENT, from_source, source_of

logger = logging.getLogger(__name__)

CONTEXT_MESSAGE = "context:message"
"""Event: a message entered the history."""
CONTEXT_REPLACED = "context:replaced"
"""Event: the history was replaced by the messages that follow, or cleared."""
HISTORY_EVENTS = (CONTEXT_MESSAGE, CONTEXT_REPLACED)
LIMIT_SECONDS = 30.0
"""How long the handlers of one of these events may take, all together."""
_LEAVE_SECONDS = 2.0
"""How long a handler may take to end then before it is left behind."""

_TELLING: ContextVar[HistoryEvents | None] = ContextVar("telling_history", default=None)


class HistoryEvents:
    """Tells what happens to one history: each change is one event, in the order of the changes.

    An event is emitted after its change. No cancellation loses it: one whose handlers were
    interrupted is emitted once more, with the same `number`.
    """

    def __init__(self, hooks: Any) -> None:
        """Emit to this registry; None for no events until `connect`."""
        self._hooks = hooks
        self._hears = listener_check(hooks)
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self._noted: int = 0
        self._told: int = 0
        self._is_telling = False
        self._was_told: anyio.Event | None = None

    @property
    def is_heard(self) -> bool:
        """Whether anybody hears of a message that is added now, or of what was noted before."""
        return self._told != self._noted or self._hears(CONTEXT_MESSAGE)

    def is_connected_to(self, hooks: Any) -> bool:
        """Whether the events go to this registry."""
        return self._hooks is hooks

    @property
    def has_begun(self) -> bool:
        """Whether anything was noted."""
        return self._noted > 0

    def connect(self, hooks: Any, messages: Iterable[Mapping[str, Any]]) -> None:
        """Emit to this registry from now on, first what is in the history already."""
        self._hooks, self._hears = hooks, listener_check(hooks)
        self._told += len(self._waiting)
        self._waiting.clear()
        for index, message in enumerate(messages):
            self.note_message(message, index)

    def note_message(self, message: Mapping[str, Any], index: int) -> None:
        """Note a message that is at this index of the history now."""
        self._note(
            CONTEXT_MESSAGE,
            {"index": index, "source": source_of(message), "message": message},
        )

    def note_added(self, message: Mapping[str, Any], index: int) -> bool:
        """Note a message, and return whether there is something to tell.

        Where nobody hears of it, it is only counted.
        """
        if self._told != self._noted or self._hears(CONTEXT_MESSAGE):
            self.note_message(message, index)
        elif self._hooks is not None:
            self._noted += 1
            self._told += 1
        return self._told != self._noted

    def _count(self, events: int) -> None:
        """Count events that nobody listens to as emitted."""
        if self._hooks is not None:
            self._noted += events
            self._told += events

    def note_replacement(self, removed: int, messages: Iterable[Mapping[str, Any]]) -> None:
        """Note that these messages are the history now, and how many were removed."""
        replacement = list(messages)
        if self.is_told and not (self._hears(CONTEXT_REPLACED) or self._hears(CONTEXT_MESSAGE)):
            self._count(1 + len(replacement))
            return
        self._note(CONTEXT_REPLACED, {"messages_removed": removed, "count": len(replacement)})
        with from_source(REPLACEMENT):
            for index, message in enumerate(replacement):
                self.note_message(message, index)

    @property
    def is_told(self) -> bool:
        """Whether all that was noted was emitted."""
        return self._told == self._noted

    async def tell(self) -> None:
        """Emit what was noted; it returns when all of that was emitted.

        Called from a handler of such an event it returns at once: what was noted follows that
        event.
        """
        noted = self._noted
        if self._told == noted or (self._is_telling and _TELLING.get() is self):
            return
        while self._told < noted:
            if self._is_telling:
                # Somebody else emits: the events of changes come in the order of the changes.
                self._was_told = self._was_told or anyio.Event()
                await self._was_told.wait()
            else:
                await self._tell_all()

    async def _tell_all(self) -> None:
        self._is_telling = True
        token = _TELLING.set(self)
        try:
            while self._waiting:
                event, data = self._waiting[0]
                await _in_time(self._hooks.emit(event, data), f"the hooks of `{event}`")
                self._waiting.popleft()
                self._told += 1
        finally:
            _TELLING.reset(token)
            self._is_telling = False
            was_told, self._was_told = self._was_told, None
            if was_told is not None:
                was_told.set()

    def _note(self, event: str, data: dict[str, Any]) -> None:
        if self._hooks is None:
            return
        self._noted += 1
        self._waiting.append((event, {"number": self._noted, **data}))


async def connect_history_events(context: Any, hooks: Any) -> HistoryEvents | None:
    """Return the events of a context that tells its history itself; None for another context.

    They go to this registry from now on: if they did not before, `tell` begins with what is there
    already.
    """
    events = getattr(context, "history_events", None)
    if not isinstance(events, HistoryEvents):
        return None
    if not events.is_connected_to(hooks):
        events.connect(hooks, await context.get_messages())
    return events


async def _in_time(emission: Coroutine[Any, Any, Any], what: str) -> None:
    """Await handlers for a limited time.

    They hold a turn that is being cancelled: the caller shields them.
    """
    if asyncio_loop() is None:
        with Interruption(seconds=LIMIT_SECONDS) as limit:
            await emission
    else:
        steps = steps_of(emission)
        # Without handlers that wait, and mostly there are none, this step is all.
        try:
            awaited = steps.send(None)
        except StopIteration:
            return
        with Interruption(seconds=LIMIT_SECONDS) as limit:
            await Leaving(steps, _LEAVE_SECONDS, what, logger).await_rest(awaited)
    if limit.was_caught:
        logger.error("%s took more than %s seconds and were ended", what, LIMIT_SECONDS)
