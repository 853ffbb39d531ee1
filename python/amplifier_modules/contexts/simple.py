"""`context-simple`: a conversation in memory, shortened for requests when it is too long."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from amplifier_core._kernel.capability_names import OBSERVABILITY_EVENTS, REQUEST_RETENTION
from amplifier_core._kernel.shown import shown
from amplifier_core.events import LLM_RESPONSE
from amplifier_modules.settings import read_settings

from .budget import estimate_tokens, request_budget
from .calls import call_ids
from .context_settings import ContextSettings
from .groups import Message
from .history_events import HISTORY_EVENTS, HistoryEvents
from .meter import TokenMeter
from .own_message import OwnMessage
from .put_aside import TOOL_NAME, PutAside
from .read_stored import ReadStored
from .retention import RequestRetention
from .sent_view import SentView
from .stored_texts import MemoryTexts, StoredTexts
from .system_prompt import CONTEXT_SYSTEM_PROMPT, SystemPrompt, SystemPromptFactory

__amplifier_module_type__ = "context"
__amplifier_settings__ = ContextSettings

logger = logging.getLogger(__name__)

_ROLES = frozenset(("system", "developer", "user", "assistant", "function", "tool"))


class SimpleContext:
    """A conversation kept in memory.

    The conversation itself stays complete; only the view for requests is shortened. A shortened
    view is kept, and shortened again only when it exceeds the threshold, not at each request, so
    that providers can cache its beginning. Texts that are too long for a conversation are put aside
    as a whole when they are added.

    A message is copied when it is added, one level deep. The returned lists are new, their messages
    are the context's own and must not be changed. The same message is the same object in each list,
    so that a loop can skip the messages it knows.
    """

    module: ClassVar[str] = "context-simple"

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
        self._settings = self._read(given)
        self._hooks = hooks
        self.history_events = HistoryEvents(hooks)
        """Tells of each message that enters the history."""
        self._clock = clock
        self._coordinator: Any = None
        self._messages: list[Message] = []
        self._tokens: list[int] = []
        self._open_calls: set[Any] = set()
        self._budget = 0
        self._system = SystemPrompt(hooks)
        self._meter = TokenMeter(self._settings.token_meter)
        self.retention = RequestRetention()
        """Keeps messages in requests."""
        self._shown = SentView(self._settings, hooks, self.retention)
        self._aside = PutAside(self._store(), self._settings.put_aside_bytes)

    def _read(self, given: Mapping[str, Any] | None) -> ContextSettings:
        return read_settings(ContextSettings, given, self.module)

    def _store(self) -> StoredTexts:
        return MemoryTexts(self._settings.put_aside_total_bytes)

    async def attach(self, coordinator: Any) -> Callable[[], Awaitable[None]]:
        """Become the context of a session; return what ends that.

        Its texts that are put aside can be read with a tool, its capability keeps messages in
        requests, and its estimates are corrected by what providers count.
        """
        self._coordinator = coordinator
        await coordinator.mount("context", self)
        coordinator.register_capability(REQUEST_RETENTION, self.retention)
        coordinator.register_contributor(
            OBSERVABILITY_EVENTS, self.module, lambda: [*HISTORY_EVENTS, CONTEXT_SYSTEM_PROMPT]
        )
        await self._offer_tool()
        remove: Callable[[], object] | None = None
        if self._hooks is not None:
            remove = self._hooks.register(LLM_RESPONSE, self._note_usage, name=self.module)

        async def end() -> None:
            if remove is not None:
                remove()
            self.end()

        return end

    def end(self) -> None:
        """Free what ends with the session."""
        self._aside.texts.clear()

    async def add_message(self, message: Mapping[str, Any]) -> None:
        """Add a message at the end, with a timestamp in its metadata.

        A message without a known role is stored, but not sent. The event follows; the message is
        stored also where a cancellation interrupts that.

        Raises:
            TypeError: It is not a mapping.
        """
        own = self._own(message)
        self._keep(own)
        self.history_events.note_message(own, self._put(own))
        await self._offer_tool()
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

        Raises:
            ContextLengthError: What `retention` keeps does not fit.
        """
        budget = await request_budget(token_budget, provider, self._settings.max_tokens)
        system = await self._system.messages()
        if budget > self._budget:
            # A view shortened for a smaller model may leave out what fits now.
            self._show_all()
        self._budget = budget
        system_tokens = sum(map(estimate_tokens, system))
        self._shown.room = self._meter.estimated(budget) - system_tokens
        if self._should_compact():
            await self._compact_internal()
        view = self._shown.view
        if self.retention.is_used:
            view = await self._shown.with_kept(*self._sent())
        self._meter.sent(system_tokens + view.total)
        return system + view.messages

    async def set_messages(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Replace the conversation.

        Raises:
            TypeError: One of the messages is not a mapping; the conversation is unchanged.
        """
        await self._replace([self._own(message) for message in messages])

    async def clear(self) -> None:
        """Remove all messages and what was put aside; the system prompt factory stays."""
        await self._replace([])

    async def set_system_prompt_factory(self, factory: SystemPromptFactory | None) -> None:
        """Begin each request with what the factory returns; None removes it."""
        self._system.factory = factory

    async def _replace(self, replacement: list[Message]) -> None:
        self._keep_all(replacement)
        removed = len(self._messages)
        self._restart(replacement)
        if not replacement:
            self._aside.texts.clear()
        await self._offer_tool()
        if removed or replacement:
            self.history_events.note_replacement(removed, self._messages)
            await self.history_events.tell()

    def _keep(self, message: Message) -> None:
        """Keep a message that is about to be added, where that outlives the session."""

    def _keep_all(self, messages: list[Message]) -> None:
        """Keep the messages that are about to replace the conversation."""

    def _restart(self, messages: list[Message]) -> None:
        self._messages, self._tokens = [], []
        self._open_calls = set()
        self._show_all()
        for message in messages:
            self._put(message)

    def _put(self, message: Message) -> int:
        """Insert a message: at the end, or a tool's result right after its call.

        Hooks may add messages while tools run, and providers accept nothing between a call and its
        result.

        Returns:
            Its index.
        """
        is_awaited = False
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            is_awaited = isinstance(call_id, str) and call_id in self._open_calls
            self._open_calls.discard(str(call_id))
        elif message.get("role") == "assistant":
            self._open_calls = call_ids(message)
        index = len(self._messages) - (_behind_calls(self._messages) if is_awaited else 0)
        tokens = estimate_tokens(message)
        self._messages.insert(index, message)
        self._tokens.insert(index, tokens)
        if can_be_sent(message):
            place = _behind_calls(self._shown.view.messages) if is_awaited else 0
            self._shown.view.add(message, before_last=place, tokens=tokens)
        return index

    def _own(self, message: Mapping[str, Any]) -> Message:
        if not isinstance(message, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            error = f"a message is of type `{type(message).__name__}` (must be a dict)"
            raise TypeError(error)
        own = dict(message)
        if not can_be_sent(own):
            logger.warning("message with unknown role %s: not sent", shown(own.get("role")))
        if "content" in own:
            own["content"] = self._aside.content(own)
        metadata: Any = own.get("metadata") or {}
        if isinstance(metadata, dict) and "timestamp" not in metadata:
            now = self._clock().isoformat(timespec="milliseconds")
            own["metadata"] = {**metadata, "timestamp": now}
        return OwnMessage(own)

    def _show_all(self) -> None:
        self._shown.show_all(*self._sent())

    def _sent(self) -> tuple[list[Message], list[int]]:
        """Return all messages that can be sent, and their estimated tokens."""
        both = zip(self._messages, self._tokens, strict=True)
        sent = [pair for pair in both if can_be_sent(pair[0])]
        return [message for message, _ in sent], [tokens for _, tokens in sent]

    async def _offer_tool(self) -> None:
        """Mount the tool that reads what was put aside, once there is something."""
        coordinator = self._coordinator
        if coordinator is None or not self._aside.texts.ids():
            return
        if coordinator.get("tools", TOOL_NAME) is None:
            tool = ReadStored(self._aside.texts, self._settings.put_aside_bytes // 2)
            await coordinator.mount("tools", tool, name=TOOL_NAME)

    def _note_usage(self, event: str, data: Mapping[str, Any]) -> None:
        """Correct the estimates by what a provider counted."""
        del event
        if data.get("status") == "ok" and not self._shown.is_summarizing:
            self._meter.note(data.get("usage"))

    def _should_compact(self) -> bool:
        """Whether the view exceeds the threshold of the last request's budget."""
        return self._shown.is_too_long

    async def _compact_internal(self) -> None:
        """Shorten the view for that budget, and emit the event."""
        await self._shown.shorten()


SimpleContextManager = SimpleContext
"""The name by which modules of others import the class, to derive from it."""


def can_be_sent(message: Mapping[str, Any]) -> bool:
    """Whether a message has a role that requests know."""
    role = message.get("role")
    return isinstance(role, str) and role in _ROLES


def _behind_calls(messages: list[Message]) -> int:
    """Return the number of messages at the end that are neither a call nor a result."""
    count = 0
    while count < len(messages) and messages[-1 - count].get("role") not in ("assistant", "tool"):
        count += 1
    return count


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the context of the session; return what ends it."""
    return await SimpleContext(config, getattr(coordinator, "hooks", None)).attach(coordinator)
