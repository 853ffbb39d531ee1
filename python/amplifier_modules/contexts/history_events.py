"""The events from which a history can be rebuilt, and where each of its messages comes from."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Coroutine, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import anyio

from amplifier_core.event_loop import find_asyncio_loop
from amplifier_core.interruption import Interruption
from amplifier_core.left_behind import Leaving, as_coroutine
from amplifier_providers.running.listeners import listener_check

logger = logging.getLogger(__name__)

USER = "user"
MODEL = "model"
TOOL = "tool"
SYSTEM = "system"
HOOK = "hook"
STEERING = "steering"
GOAL = "goal"
"""What a loop tells a model that has not reached its goal."""
CLOSING = "closing"
"""What a loop writes where a turn ends behind the results of tools."""
TOOLS = "tools"
"""What a loop announces of tools that came later."""
GIVEN = "given"
"""A conversation that is carried on."""
REPAIR = "repair"
"""What was added to such a conversation, to make it valid."""
REPLACEMENT = "replacement"
"""One of the messages that replaced the history."""
OTHER = "other"

_BY_ROLE = {
    "user": USER,
    "assistant": MODEL,
    "tool": TOOL,
    "function": TOOL,
    "system": SYSTEM,
    "developer": SYSTEM,
}
_NAMED: ContextVar[str | None] = ContextVar("message_source", default=None)


@contextmanager
def from_source(source: str | None) -> Generator[None]:
    """Set where the messages come from that are added in this block; None for what they say."""
    token = _NAMED.set(source)
    try:
        yield
    finally:
        _NAMED.reset(token)


def source_of(message: Mapping[str, Any]) -> str:
    """Return where a message comes from: what the caller says, else its metadata or its role."""
    if (named := _NAMED.get()) is not None:
        return named
    metadata = message.get("metadata")
    if isinstance(metadata, Mapping) and cast("Mapping[str, Any]", metadata).get("source") == HOOK:
        return HOOK
    role = message.get("role")
    return _BY_ROLE.get(role, OTHER) if isinstance(role, str) else OTHER


CONTEXT_MESSAGE = "context:message"
"""Event: a message entered the history."""
CONTEXT_REPLACED = "context:replaced"
"""Event: the history was replaced by the messages that follow, or cleared."""
HISTORY_EVENTS = (CONTEXT_MESSAGE, CONTEXT_REPLACED)
LIMIT_SECONDS = 30.0
"""How long the handlers of one of these events may take, all together."""
_LEAVE_SECONDS = 2.0
"""How long a handler may take to end then before it is left behind."""

_EMITTING: ContextVar[HistoryEvents | None] = ContextVar("emitting_history", default=None)


class HistoryEvents:
    """Emits what happens to one history: each change is one event, in the order of the changes.

    An event is emitted after its change. No cancellation loses it: one whose handlers were
    interrupted is emitted once more, with the same `number`.
    """

    __slots__ = (
        "_emission",
        "_emitted",
        "_hooks",
        "_is_emitting",
        "_noted",
        "_waiting",
    )

    def __init__(self, hooks: Any) -> None:
        """Emit to this registry; None for no events until `connect`."""
        self._hooks: Any = hooks
        self._waiting: deque[tuple[str, dict[str, Any]]] | None = None
        """What was noted and not emitted; None for nothing, as an empty `deque` takes 760 bytes."""
        self._noted: int = 0
        self._emitted: int = 0
        self._is_emitting = False
        self._emission: anyio.Event | None = None

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens to a message that is added now, or of what was noted before."""
        return self._emitted != self._noted or self._has_listeners(CONTEXT_MESSAGE)

    def _has_listeners(self, event: str) -> bool:
        # Not kept: the method of a registry is an object of its own.
        return listener_check(self._hooks)(event)

    def is_connected_to(self, hooks: Any) -> bool:
        """Whether the events go to this registry."""
        return self._hooks is hooks

    @property
    def has_begun(self) -> bool:
        """Whether anything was noted."""
        return self._noted > 0

    def connect(self, hooks: Any, messages: Iterable[Mapping[str, Any]]) -> None:
        """Emit to this registry from now on, first what is in the history already."""
        self._hooks = hooks
        self._emitted, self._waiting = self._noted, None
        for index, message in enumerate(messages if hooks is not None else ()):
            self.note_message(message, index)

    @contextmanager
    def restoring(self, number: int) -> Generator[None]:
        """Emit nothing of what is added meanwhile; the events after it are numbered from here on.

        Args:
            number: That of the last event which the history had before, in another process.
        """
        hooks, self._hooks = self._hooks, None
        try:
            yield
        finally:
            self._hooks = hooks
            self._noted = self._emitted = number

    def note_message(self, message: Mapping[str, Any], index: int) -> None:
        """Note a message that is at this index of the history now."""
        self._note(
            CONTEXT_MESSAGE,
            {"index": index, "source": source_of(message), "message": message},
        )

    def note_added(self, message: Mapping[str, Any], index: int) -> bool:
        """Note a message, and return whether there is something to emit.

        Where nobody listens, it is only counted.
        """
        if self._emitted != self._noted or self._has_listeners(CONTEXT_MESSAGE):
            self.note_message(message, index)
        elif self._hooks is not None:
            self._noted += 1
            self._emitted += 1
        return self._emitted != self._noted

    def count_unheard(self, events: int) -> None:
        """Count events that nobody listens to as emitted."""
        if self._hooks is not None:
            self._noted += events
            self._emitted += events

    def note_replacement(self, removed: int, messages: Iterable[Mapping[str, Any]]) -> None:
        """Note that these messages are the history now, and how many were removed."""
        replacement = list(messages)
        if self.has_emitted_all and not (
            self._has_listeners(CONTEXT_REPLACED) or self._has_listeners(CONTEXT_MESSAGE)
        ):
            self.count_unheard(1 + len(replacement))
            return
        self._note(CONTEXT_REPLACED, {"messages_removed": removed, "count": len(replacement)})
        with from_source(REPLACEMENT):
            for index, message in enumerate(replacement):
                self.note_message(message, index)

    @property
    def has_emitted_all(self) -> bool:
        """Whether all that was noted was emitted."""
        return self._emitted == self._noted

    async def emit(self) -> None:
        """Emit what was noted; it returns when all of that was emitted.

        Called from a handler of such an event it returns at once: what was noted follows that
        event.
        """
        noted = self._noted
        if self._emitted == noted or (self._is_emitting and _EMITTING.get() is self):
            return
        while self._emitted < noted:
            if self._is_emitting:
                # Somebody else emits: the events of changes come in the order of the changes.
                self._emission = self._emission or anyio.Event()
                await self._emission.wait()
            else:
                await self._emit_all()

    async def _emit_all(self) -> None:
        self._is_emitting = True
        token = _EMITTING.set(self)
        try:
            while self._waiting:
                first = event, data = self._waiting[0]
                await _await_in_time(self._hooks.emit(event, data), f"the hooks of `{event}`")
                self._take_out(first)
        finally:
            _EMITTING.reset(token)
            self._is_emitting = False
            emission, self._emission = self._emission, None
            if emission is not None:
                emission.set()

    def _note(self, event: str, data: dict[str, Any]) -> None:
        if self._hooks is None:
            return
        self._noted += 1
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append((event, {"number": self._noted, **data}))

    def _take_out(self, emitted: tuple[str, dict[str, Any]]) -> None:
        """Take out the first event, unless another registry is connected meanwhile."""
        if self._waiting and self._waiting[0] is emitted:
            self._waiting.popleft()
            self._emitted += 1
        if not self._waiting:
            self._waiting = None


async def connect_history_events(context: Any, hooks: Any) -> HistoryEvents | None:
    """Return the events of a context that emits its history itself; None for another context.

    They go to this registry from now on: if they did not before, `emit` begins with what is there
    already.
    """
    events = getattr(context, "history_events", None)
    if not isinstance(events, HistoryEvents):
        return None
    if not events.is_connected_to(hooks):
        events.connect(hooks, await context.get_messages())
    return events


async def _await_in_time(emission: Coroutine[Any, Any, Any], what: str) -> None:
    """Await handlers for a limited time.

    They hold a turn that is being cancelled: the caller shields them.
    """
    if find_asyncio_loop() is None:
        with Interruption(seconds=LIMIT_SECONDS) as limit:
            await emission
    else:
        steps = as_coroutine(emission)
        # Without handlers that wait, and mostly there are none, this step is all.
        try:
            awaited = steps.send(None)
        except StopIteration:
            return
        with Interruption(seconds=LIMIT_SECONDS) as limit:
            await Leaving(steps, _LEAVE_SECONDS, what, logger).await_rest(awaited)
    if limit.was_caught:
        logger.error("%s took more than %s seconds and were ended", what, LIMIT_SECONDS)
