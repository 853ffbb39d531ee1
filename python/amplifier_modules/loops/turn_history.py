"""What a turn adds to the conversation, and the events of that."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterable
from typing import Any, cast

import anyio

from amplifier_core.message_models import ChatResponse

from ..contexts.history_events import CLOSING, HistoryEvents, connect_history_events, from_source
from ..running.awaitable import awaitable_of
from .answers.response import RequestedCall, assistant_message
from .boundary.cancellation import Shield
from .turn_report import closing_message

logger = logging.getLogger(__name__)


class TurnHistory:
    """The conversation in the context, as its turn extends it.

    A message is added completely or not at all, also during cancellation, and each is an
    event. One limit: `asyncio.Task.cancel` may interrupt a context that suspends before it has
    stored a message; ours does not.
    """

    def __init__(self, context: Any, emitted: EmittedHistory | None = None) -> None:
        """Extend the conversation of this context.

        Args:
            context: The context.
            emitted: Emits the events of what is added; None for none but those of the context itself.
        """
        self.context = context
        self._emitted = emitted
        self.ends_in_tool_results = False
        """Whether the last message of the turn is the result of a tool."""
        self.awaits_results = False
        """Whether tool calls are stored that have no results yet."""

    async def add(self, message: dict[str, Any], source: str | None = None) -> None:
        """Add a message of the user or the model.

        Args:
            message: The message.
            source: Where it comes from, for the event; None for what its role says.
        """
        if self._adds_at_once():
            if (rest := self.context.add_at_once((message,))) is not None:
                await rest
        else:
            with Shield():
                await self._add(message, source)
        self.ends_in_tool_results = False

    async def close(self, text: str) -> None:
        """Add a message of the assistant that ends the turn behind the results of tools."""
        await self.add(closing_message(text), CLOSING)

    async def add_response(self, response: ChatResponse, calls: list[RequestedCall]) -> None:
        """Add what the model answered, with the calls that are run; nothing if it is empty."""
        message = assistant_message(response, calls)
        if message is None:
            return
        try:
            await self.add(message)
        except anyio.get_cancelled_exc_class():
            self.awaits_results = bool(calls) and await self._has_calls(calls)
            raise
        self.awaits_results = bool(calls)

    async def add_results(self, messages: Iterable[dict[str, Any]]) -> None:
        """Add the results of tools: all of them, also where the task is cancelled meanwhile."""
        cancellation: BaseException | None = None
        if self._adds_at_once():
            if (rest := self.context.add_at_once(messages)) is not None:
                await rest
        else:
            cancellation = await self._add_shielded(messages)
        self.ends_in_tool_results = True
        self.awaits_results = False
        if cancellation is not None:
            raise cancellation

    def note_usage(self, usage: Any) -> None:
        """Tell a context that estimates tokens what the provider counted for its messages."""
        note = getattr(self.context, "note_usage", None)
        if callable(note):
            note(usage)

    def continues_with(self, hooks: Any) -> bool:
        """Whether this registry has had the events of all that is there, so that `begin` emits none."""
        return self._emitted is None or self._emitted.continues_with(self.context, hooks)

    async def begin(self, hooks: Any) -> None:
        """Emit to this registry what is there already, as far as it has not had it."""
        if self._emitted is not None:
            with Shield():
                await self._emitted.begin(self.context, hooks)

    async def emit_changes(self) -> None:
        """Emit what others have changed, and what a cancellation kept from being emitted."""
        if self._emitted is None or self._emitted.has_emitted_all():
            return
        try:
            with Shield():
                await self._emitted.emit()
        except Exception:
            logger.exception("the history of the context could not be read")

    def has_emitted_all(self) -> bool:
        """Whether there is nothing to emit."""
        return self._emitted is None or self._emitted.has_emitted_all()

    def _adds_at_once(self) -> bool:
        """Whether there is nothing to shield: the context awaits nothing, and nothing is emitted.

        Without its shield, each message saves 4 µs.
        """
        if self._emitted is not None and not self._emitted.emits_itself:
            return False
        return getattr(self.context, "adds_at_once", False) is True

    async def _add_shielded(self, messages: Iterable[dict[str, Any]]) -> BaseException | None:
        """Add messages; return the cancellation that came meanwhile."""
        cancellation: BaseException | None = None
        with Shield():
            for message in messages:
                try:
                    await self._add(message)
                except anyio.get_cancelled_exc_class() as error:
                    # Of the task, under asyncio, which hears of it once.
                    cancellation = cancellation or error
        return cancellation

    async def _add(self, message: dict[str, Any], source: str | None = None) -> None:
        with from_source(source):
            await self._store(message)
            if self._emitted is not None and not self._emitted.has_emitted_all():
                await self._emitted.emit()

    def _store(self, message: dict[str, Any]) -> Awaitable[Any]:
        return awaitable_of(self.context.add_message(message), "add_message", "context")

    async def _has_calls(self, calls: list[RequestedCall]) -> bool:
        """Whether a message with these calls was stored."""
        ids = [call.id for call in calls]
        with Shield():
            messages: list[Any] = await self.context.get_messages()
        for message in reversed(messages):
            if message.get("role") == "assistant":
                stored = cast("list[dict[str, Any]]", message.get("tool_calls") or [])
                return [call.get("id") for call in stored] == ids
        return False


class EmittedHistory:
    """Has the events of a history emitted, over all turns of a loop.

    A context that has `history_events`, like ours, emits each change itself. For any other, the
    loop emits what it finds: it looks at the number of messages and at the last one it knows, when
    a turn begins and ends, before each model call and after each message that it adds.
    """

    __slots__ = ("_context", "_count", "_events", "_last", "emits_itself")

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
