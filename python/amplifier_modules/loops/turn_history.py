"""What a turn adds to the conversation."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterable
from typing import Any, cast

import anyio

from amplifier_core.message_models import ChatResponse

from ..contexts.message_source import CLOSING, from_source
from ..running.awaitable import awaitable_of
from .answers.response import RequestedCall, assistant_message
from .boundary.cancellation import Shielded
from .emitted_history import EmittedHistory
from .outcome import closing_message

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
            await self._store(message)
        else:
            with Shielded():
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
            for message in messages:
                await self._store(message)
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
            with Shielded():
                await self._emitted.begin(self.context, hooks)

    async def emit_changes(self) -> None:
        """Emit what others have changed, and what a cancellation kept from being emitted."""
        if self._emitted is None or self._emitted.has_emitted_all():
            return
        try:
            with Shielded():
                await self._emitted.emit()
        except Exception:
            logger.exception("the history of the context could not be read")

    def has_emitted_all(self) -> bool:
        """Whether there is nothing to emit."""
        return self._emitted is None or self._emitted.has_emitted_all()

    def _adds_at_once(self) -> bool:
        """Whether there is nothing to shield: the context awaits nothing, and nothing is emitted."""
        if self._emitted is not None and not self._emitted.emits_itself:
            return False
        return getattr(self.context, "adds_at_once", False) is True

    async def _add_shielded(self, messages: Iterable[dict[str, Any]]) -> BaseException | None:
        """Add messages; return the cancellation that came meanwhile."""
        cancellation: BaseException | None = None
        with Shielded():
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
        with Shielded():
            messages: list[Any] = await self.context.get_messages()
        for message in reversed(messages):
            if message.get("role") == "assistant":
                stored = cast("list[dict[str, Any]]", message.get("tool_calls") or [])
                return [call.get("id") for call in stored] == ids
        return False
