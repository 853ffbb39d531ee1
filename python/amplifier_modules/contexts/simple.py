"""`context-simple`: the conversation in memory, and a view of it that fits into a request."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from amplifier_core.events import CONTEXT_COMPACTION
from amplifier_modules.settings import read_settings

from .budget import estimate_tokens, request_budget
from .compaction import CompactionSettings, Count, Message, View, compact

__amplifier_module_type__ = "context"

logger = logging.getLogger(__name__)

_ROLES = frozenset(("system", "developer", "user", "assistant", "function", "tool"))

SystemPromptFactory = Callable[[], Awaitable[str]]
"""Makes the system prompt anew for each request."""


class ContextSettings(CompactionSettings):
    """How much of a conversation a request contains."""

    max_tokens: Count = 200_000
    """Tokens of a request where neither the caller nor the provider sets a budget."""


__amplifier_settings__ = ContextSettings


class SimpleContext:
    """A conversation kept in memory.

    What is added is the truth and stays whole; only the view for requests is ever made shorter,
    and it stays so: it is cut again when it has grown over the threshold anew, not at each
    request, so that providers can cache its beginning.

    A message is copied when it is added, one level deep. The lists that are returned are fresh,
    their messages are the context's own: to change one, add or set another. The same message is
    the same object in each list, so that nobody needs to look at a long history twice.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        hooks: Any = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Start an empty conversation.

        Args:
            config: The keys of `ContextSettings`.
            hooks: Where `context:compaction` is emitted; None emits nothing.
            clock: What time it is, for the timestamps of messages.

        Raises:
            SettingError: A value cannot be used.
        """
        self._settings = read_settings(ContextSettings, config, "context-simple")
        self._hooks = hooks
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

        A message without a known role is kept, but no request will contain it.

        Raises:
            TypeError: It is no mapping.
        """
        self._put(self._own(message))

    async def get_messages(self) -> list[Message]:
        """Return the whole conversation."""
        return list(self._messages)

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[Message]:
        """Return what a request shall contain: the system prompt and as much as fits.

        Args:
            token_budget: How many tokens fit; None asks the provider, then the configuration.
            provider: The provider that will get the request.
        """
        budget = await request_budget(token_budget, provider, self._settings.max_tokens)
        system = await self._system_prompt()
        if budget > self._budget:
            # A view cut for a smaller model would hide what this one has room for.
            self._show_all()
        self._budget = budget
        self._room = budget - sum(map(estimate_tokens, system))
        if self._should_compact():
            await self._compact_internal()
        return system + self._view.messages

    async def set_messages(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Replace the conversation.

        Raises:
            TypeError: One of the messages is no mapping; the conversation stays as it was.
        """
        replacement = [self._own(message) for message in messages]
        await self.clear()
        for message in replacement:
            self._put(message)

    async def clear(self) -> None:
        """Forget the conversation; the system prompt factory stays."""
        self._messages = []
        self._open_calls = set()
        self._show_all()

    async def set_system_prompt_factory(self, factory: SystemPromptFactory | None) -> None:
        """Let each request begin with what the factory returns; None ends it."""
        self._factory = factory

    def _put(self, message: Message) -> None:
        """Put a message to its place: the end, or for a tool's result right behind its call.

        Hooks may say something while the tools of a response run, and providers accept nothing
        between a call and its result.
        """
        is_awaited = False
        if message.get("role") == "tool":
            is_awaited = message.get("tool_call_id") in self._open_calls
            self._open_calls.discard(message.get("tool_call_id"))
        elif message.get("role") == "assistant":
            self._open_calls = _call_ids(message)
        place = _behind_calls(self._messages) if is_awaited else 0
        self._messages.insert(len(self._messages) - place, message)
        if _can_be_sent(message):
            place = _behind_calls(self._view.messages) if is_awaited else 0
            self._view.add(message, before_last=place)

    def _own(self, message: Mapping[str, Any]) -> Message:
        if not isinstance(message, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            error = f"a message must be a dict (found {type(message).__name__})"
            raise TypeError(error)
        own = dict(message)
        if not _can_be_sent(own):
            logger.warning("a message with the role %r will not be sent", own.get("role"))
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
        """Whether the view has grown over the threshold of the room that the last request had."""
        return self._view.is_over(self._room * self._settings.compact_threshold)

    async def _compact_internal(self) -> None:
        """Make the view shorter for that room, and tell of it."""
        budget = self._room
        before, after = self._view, compact(self._view, budget, self._settings)
        self._view = after
        if after.total == before.total:
            logger.warning("the conversation needs %d tokens, %d fit", after.total, budget)
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


def _can_be_sent(message: Mapping[str, Any]) -> bool:
    role = message.get("role")
    return isinstance(role, str) and role in _ROLES


def _behind_calls(messages: list[Message]) -> int:
    """Return how many messages at the end are neither a call nor a result."""
    count = 0
    while count < len(messages) and messages[-1 - count].get("role") not in ("assistant", "tool"):
        count += 1
    return count


def _call_ids(message: Message) -> set[Any]:
    """Return the ids of an assistant message's tool calls, in whichever place it has them."""
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
    await coordinator.mount("context", SimpleContext(config, getattr(coordinator, "hooks", None)))
