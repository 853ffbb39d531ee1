"""`context-simple`: a conversation in memory, shortened for requests when it is too long."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from amplifier_core._kernel.capability_names import OBSERVABILITY_EVENTS
from amplifier_core._kernel.shown import shown
from amplifier_core.events import CONTEXT_COMPACTION
from amplifier_modules.settings import read_settings

from .budget import estimate_tokens, request_budget
from .compaction import CompactionSettings, Count, Message, View, compact
from .history_events import HISTORY_EVENTS, HistoryEvents

__amplifier_module_type__ = "context"

logger = logging.getLogger(__name__)

_ROLES = frozenset(("system", "developer", "user", "assistant", "function", "tool"))

SystemPromptFactory = Callable[[], Awaitable[str]]
"""Creates the system prompt of each request."""


class ContextSettings(CompactionSettings):
    """How much of a conversation a request contains."""

    max_tokens: Count = 200_000
    """Tokens of a request where neither the caller nor the provider sets a budget."""


__amplifier_settings__ = ContextSettings


class SimpleContext:
    """A conversation kept in memory.

    The conversation itself stays complete; only the view for requests is shortened. A shortened
    view is kept, and shortened again only when it exceeds the threshold, not at each request, so
    that providers can cache its beginning.

    A message is copied when it is added, one level deep. The returned lists are new, their messages
    are the context's own and must not be changed. The same message is the same object in each list,
    so that a loop can skip the messages it knows.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        hooks: Any = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        **settings: Any,
    ) -> None:
        """Start an empty conversation.

        Args:
            config: The keys of `ContextSettings`.
            hooks: The registry that gets the events; None for none.
            clock: Returns the current time, for the timestamps of messages.
            **settings: Keys of `ContextSettings`, which count before those of `config`.

        Raises:
            SettingError: A value cannot be used.
        """
        given = {**(config or {}), **settings} if settings else config
        self._settings = read_settings(ContextSettings, given, "context-simple")
        self._hooks = hooks
        self.history_events = HistoryEvents(hooks)
        """Tells of each message that enters the history."""
        self._clock = clock
        self._messages: list[Message] = []
        self._view = View([], [])
        self._open_calls: set[Any] = set()
        self._budget = 0
        self._room = self._settings.max_tokens
        self._factory: SystemPromptFactory | None = None
        self._system: Message | None = None

    async def add_message(self, message: Mapping[str, Any]) -> None:
        """Add a message at the end, with a timestamp in its metadata.

        A message without a known role is stored, but not sent. The event follows; the message is
        stored also where a cancellation interrupts that.

        Raises:
            TypeError: It is not a mapping.
        """
        own = self._own(message)
        self.history_events.note_message(own, self._put(own))
        await self.history_events.tell()

    async def get_messages(self) -> list[Message]:
        """Return the whole conversation."""
        return list(self._messages)

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[Message]:
        """Return the messages of a request: the system prompt and as much as fits.

        Args:
            token_budget: Tokens that fit; None for those of the provider, or else `max_tokens`.
            provider: The provider that will get the request.
        """
        budget = await request_budget(token_budget, provider, self._settings.max_tokens)
        system = await self._system_prompt()
        if budget > self._budget:
            # A view shortened for a smaller model may leave out what fits now.
            self._show_all()
        self._budget = budget
        self._room = budget - sum(map(estimate_tokens, system))
        if self._should_compact():
            await self._compact_internal()
        return system + self._view.messages

    async def set_messages(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Replace the conversation.

        Raises:
            TypeError: One of the messages is not a mapping; the conversation is unchanged.
        """
        await self._replace([self._own(message) for message in messages])

    async def clear(self) -> None:
        """Remove all messages; the system prompt factory stays."""
        await self._replace([])

    async def set_system_prompt_factory(self, factory: SystemPromptFactory | None) -> None:
        """Begin each request with what the factory returns; None removes it."""
        self._factory = factory

    async def _replace(self, replacement: list[Message]) -> None:
        removed = len(self._messages)
        self._messages = []
        self._open_calls = set()
        self._show_all()
        for message in replacement:
            self._put(message)
        if removed or replacement:
            self.history_events.note_replacement(removed, self._messages)
            await self.history_events.tell()

    def _put(self, message: Message) -> int:
        """Insert a message: at the end, or a tool's result right after its call.

        Hooks may add messages while tools run, and providers accept nothing between a call and its
        result.

        Returns:
            Its index.
        """
        is_awaited = False
        if message.get("role") == "tool":
            is_awaited = message.get("tool_call_id") in self._open_calls
            self._open_calls.discard(message.get("tool_call_id"))
        elif message.get("role") == "assistant":
            self._open_calls = _call_ids(message)
        index = len(self._messages) - (_behind_calls(self._messages) if is_awaited else 0)
        self._messages.insert(index, message)
        if _can_be_sent(message):
            place = _behind_calls(self._view.messages) if is_awaited else 0
            self._view.add(message, before_last=place)
        return index

    def _own(self, message: Mapping[str, Any]) -> Message:
        if not isinstance(message, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            error = f"a message is of type `{type(message).__name__}` (must be a dict)"
            raise TypeError(error)
        own = dict(message)
        if not _can_be_sent(own):
            logger.warning("message with unknown role %s: not sent", shown(own.get("role")))
        metadata: Any = own.get("metadata") or {}
        if isinstance(metadata, dict) and "timestamp" not in metadata:
            now = self._clock().isoformat(timespec="milliseconds")
            own["metadata"] = {**metadata, "timestamp": now}
        return own

    def _show_all(self) -> None:
        self._view = View([], [])
        for message in self._messages:
            if _can_be_sent(message):
                self._view.add(message)

    async def _system_prompt(self) -> list[Message]:
        if self._factory is None:
            return []
        text = await self._factory()
        if self._system is None or self._system["content"] != text:
            self._system = {"role": "system", "content": text}
        return [self._system]

    def _should_compact(self) -> bool:
        """Whether the view exceeds the threshold of the last request's budget."""
        return self._view.is_over(self._room * self._settings.compact_threshold)

    async def _compact_internal(self) -> None:
        """Shorten the view for that budget, and emit the event."""
        budget = self._room
        before, after = self._view, compact(self._view, budget, self._settings)
        self._view = after
        if after.total == before.total:
            logger.warning("conversation too long: %d tokens, %d fit", after.total, budget)
            return
        logger.info("context compacted from %d to %d tokens", before.total, after.total)
        if self._hooks is not None:
            await self._hooks.emit(
                CONTEXT_COMPACTION,
                {
                    "budget": budget,
                    "before_tokens": before.total,
                    "after_tokens": after.total,
                    "before_messages": len(before.messages),
                    "after_messages": len(after.messages),
                    "messages_removed": after.messages_removed - before.messages_removed,
                    "results_truncated": after.results_truncated - before.results_truncated,
                },
            )


SimpleContextManager = SimpleContext
"""The name by which modules of others import the class, to derive from it."""


def _can_be_sent(message: Mapping[str, Any]) -> bool:
    role = message.get("role")
    return isinstance(role, str) and role in _ROLES


def _behind_calls(messages: list[Message]) -> int:
    """Return the number of messages at the end that are neither a call nor a result."""
    count = 0
    while count < len(messages) and messages[-1 - count].get("role") not in ("assistant", "tool"):
        count += 1
    return count


def _call_ids(message: Message) -> set[Any]:
    """Return the ids of an assistant message's tool calls, in `tool_calls` or `content`."""
    content = message.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    calls: list[Any] = [
        *(message.get("tool_calls") or []),
        *(block for block in blocks if _is_call(block)),
    ]
    return {call["id"] for call in calls if "id" in call}


def _is_call(block: Any) -> bool:
    is_block = isinstance(block, dict)
    return is_block and cast("dict[str, Any]", block).get("type") == "tool_call"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the context of the session."""
    context = SimpleContext(config, getattr(coordinator, "hooks", None))
    coordinator.register_contributor(
        OBSERVABILITY_EVENTS, "context-simple", lambda: list(HISTORY_EVENTS)
    )
    await coordinator.mount("context", context)
