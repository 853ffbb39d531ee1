"""`context-simple`: a conversation in memory, shortened for requests when it is too long."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from amplifier_core.error_messages import short_repr
from amplifier_core.events import LLM_RESPONSE
from amplifier_core.session_capabilities import OBSERVABILITY_EVENTS, REQUEST_RETENTION
from amplifier_modules.running.kept_state import KeptState
from amplifier_modules.running.session_bound import session_bound
from amplifier_providers.requests.token_estimate import (
    CHARACTERS_PER_TOKEN,
    estimate_tokens,
    request_budget,
)
from amplifier_providers.settings import read_settings

from .changes import OwnMessage, SentMessages
from .context_settings import ContextSettings
from .history_events import GIVEN, HISTORY_EVENTS, HistoryEvents, from_source
from .kept_view import KeptView
from .messages import NO_IDS, Message, call_ids, can_be_sent, count_behind_calls, has_known_role
from .meter import TokenMeter
from .put_aside import PutAside
from .read_stored import ReaderMount
from .sent_view import RequestRetention, SentView
from .stored_texts import MemoryTexts, StoredTexts
from .system_prompt import (
    CONTEXT_SYSTEM_PROMPT,
    KeptNote,
    SystemNote,
    SystemPrompt,
    SystemPromptFactory,
)
from .timestamp import write_now

__amplifier_module_type__ = "context"
__amplifier_settings__ = ContextSettings

logger = logging.getLogger(__name__)


_set_key: Callable[[Message, str, Any], None] = dict[str, Any].__setitem__
"""Sets a key of a new message, which is no change of one that a request has."""


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
        clock: Callable[[], datetime] | None = None,
        **settings: Any,
    ) -> None:
        """Start an empty conversation.

        Args:
            config: The keys of `ContextSettings`.
            hooks: The registry that gets the events; None for none.
            clock: Returns the current time, for the timestamps of messages; None for that of the
                system.
            **settings: Keys of `ContextSettings`, which count before those of `config`.

        Raises:
            SettingError: A value cannot be used.
        """
        given = {**(config or {}), **settings} if settings else config
        self._settings = self._read(given)
        self.history_events = HistoryEvents(hooks)
        """Tells of each message that enters the history."""
        self._timestamp = write_now if clock is None else partial(_write_time, clock)
        self._messages: list[Message] = []
        self._tokens: list[int] = []
        self._open_calls: set[Any] | frozenset[Any] = NO_IDS
        self._system = SystemPrompt(hooks)
        self._meter = TokenMeter(self._settings.token_meter)
        self.retention = RequestRetention()
        """Keeps messages in requests."""
        self._sessions: list[Any] = []
        """The coordinators of the sessions that have it."""
        self._shown = SentView(self._settings, hooks, self.retention)
        texts, most = self._store(), self._settings.put_aside_bytes
        self._reader = ReaderMount(texts, most // 2)
        self._aside = PutAside(texts, most, self._reader.choose_name)

    @property
    def stored_texts(self) -> StoredTexts:
        """The texts that are put aside."""
        return self._aside.texts

    def _read(self, given: Mapping[str, Any] | None) -> ContextSettings:
        return read_settings(ContextSettings, given, self.module)

    def _store(self) -> StoredTexts:
        return MemoryTexts(self._settings.put_aside_total_bytes)

    async def attach(self, coordinator: Any) -> Callable[[], Awaitable[None]]:
        """Become the context of a session; return what ends that.

        Its texts that are put aside can be read with a tool, its capability keeps messages in
        requests, its estimates are corrected by what providers count, and its events go to the
        session, first those of the messages that are there. It outlives the session, until `end`.
        """
        await coordinator.mount("context", self)
        self._sessions.append(coordinator)
        self._connect()
        coordinator.register_capability(REQUEST_RETENTION, self.retention)
        coordinator.register_contributor(OBSERVABILITY_EVENTS, self.module, _list_events)
        remove: Callable[[], object] | None = None
        if (hooks := getattr(coordinator, "hooks", None)) is not None:
            remove = hooks.register(LLM_RESPONSE, self._hear_response, name=self.module)
        return _Attachment(self, coordinator, remove).leave

    def _detach(self, coordinator: Any) -> None:
        self._sessions = [each for each in self._sessions if each is not coordinator]
        self._connect()

    def _connect(self) -> None:
        """Serve the session that took it last, of those that have not ended."""
        coordinator = self._sessions[-1] if self._sessions else None
        hooks = getattr(coordinator, "hooks", None)
        self._reader.connect(coordinator)
        self._system.connect(hooks)
        self._shown.connect(hooks)
        if not (self.history_events.is_connected_to(hooks) and self.history_events.has_begun):
            with from_source(GIVEN):
                self.history_events.connect(hooks, self._messages)

    def kept_states(self, coordinator: Any) -> Sequence[KeptState]:
        """Return what a session that is stored keeps of it beside the conversation."""
        del coordinator
        return KeptView(self._shown, self._sent_messages), self._meter, KeptNote(self._system)

    def end(self) -> None:
        """Free what is kept beside the conversation."""
        self._aside.texts.clear()

    async def add_message(self, message: Mapping[str, Any]) -> None:
        """Add a message at the end, with a timestamp in its metadata.

        A message without a known role is stored, but not sent. The event follows; the message is
        stored also where a cancellation interrupts that.

        Raises:
            TypeError: It is not a mapping.
        """
        is_heard = self._take(message)
        if self._reader.is_needed():
            await self._reader.offer()
        if is_heard:
            await self.history_events.emit()

    def add_at_once(self, messages: Iterable[Mapping[str, Any]]) -> Awaitable[None] | None:
        """Add messages as `add_message` does where `adds_at_once`, at less cost for each.

        Returns:
            What must be awaited after that; None for nothing.
        """
        for message in messages:
            own = self._copy_message(message)
            self._keep(own)
            self._put(own)
            self.history_events.count_unheard(1)
        return self._reader.offer() if self._reader.is_needed() else None

    def _take(self, message: Mapping[str, Any]) -> bool:
        """Insert a message; whether there are events to emit."""
        own = self._copy_message(message)
        self._keep(own)
        return self.history_events.note_added(own, self._put(own))

    @property
    def adds_at_once(self) -> bool:
        """Whether `add_message` awaits nothing now, so that no cancellation can interrupt it."""
        is_own = getattr(self.add_message, "__func__", None) is SimpleContext.add_message
        return is_own and not self.history_events.has_listeners

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
        system = await self._system.make_messages() if self._system.is_used else []
        if budget > self._shown.budget:
            # A view shortened for a smaller model may leave out what fits now.
            self._show_all()
        self._shown.budget = budget
        system_tokens = sum(map(estimate_tokens, system)) if system else 0
        self._shown.room = self._meter.estimate_for(budget) - system_tokens
        if self._shown.wish is not None:
            await self._shown.shorten(min(self._shown.view.total, self._shown.room))
            self._shown.wish = None
        elif self._should_compact():
            await self._compact_internal()
        view = self._shown.view
        if self.retention.is_used:
            view = await self._shown.with_kept(*self._sent_messages())
        self._meter.note_request(system_tokens + view.total)
        messages = system + view.messages if system else view.messages
        sent = SentMessages(messages)
        sent.lineage = (view.lineage, *system)
        return sent

    async def set_messages(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Replace the conversation.

        Raises:
            TypeError: One of the messages is not a mapping; the conversation is unchanged.
        """
        await self._replace([self._copy_message(message) for message in messages])

    async def clear(self) -> None:
        """Remove all messages and what was put aside; the system prompt factory stays."""
        await self._replace([])

    async def set_system_prompt_factory(self, factory: SystemPromptFactory | None) -> None:
        """Begin each request with what the factory returns; None removes it."""
        self._system.factory = factory

    @property
    def system_note(self) -> SystemNote | None:
        """What stands below the system prompt; set once, as requests must begin alike."""
        return self._system.note

    @system_note.setter
    def system_note(self, note: SystemNote) -> None:
        self._system.note = note

    async def _replace(self, replacement: list[Message]) -> None:
        self._keep_all(replacement)
        removed = len(self._messages)
        self._restart(replacement)
        if not replacement:
            self._aside.texts.clear()
        await self._reader.offer()
        if removed or replacement:
            self.history_events.note_replacement(removed, self._messages)
            await self.history_events.emit()

    def _keep(self, message: Message) -> None:
        """Keep a message that is about to be added, where that outlives the session."""

    def _keep_all(self, messages: list[Message]) -> None:
        """Keep the messages that are about to replace the conversation."""

    def _restart(self, messages: list[Message]) -> None:
        self._messages, self._tokens = [], []
        self._open_calls = NO_IDS
        self._shown.show_all([], [])
        for message in messages:
            self._put(message)

    def _put(self, message: Message) -> int:
        """Insert a message: at the end, or a tool's result right after its call.

        Hooks may add messages while tools run, and providers accept nothing between a call and its
        result.

        Returns:
            Its index.
        """
        role, behind = message.get("role"), 0
        if role == "tool":
            call_id = message.get("tool_call_id")
            waiting = self._open_calls
            if isinstance(waiting, set) and isinstance(call_id, str) and call_id in waiting:
                waiting.remove(call_id)
                behind = count_behind_calls(self._messages)
        elif role == "assistant":
            self._open_calls = call_ids(message)
        index = len(self._messages) - behind
        tokens = estimate_tokens(message)
        self._messages.insert(index, message)
        self._tokens.insert(index, tokens)
        if has_known_role(role):
            view = self._shown.view
            view.add(message, behind and count_behind_calls(view.messages), tokens)
        return index

    def _copy_message(self, message: Mapping[str, Any]) -> Message:
        # Of dicts first: the question about a mapping takes ten times as long.
        if not (isinstance(message, dict) or isinstance(message, Mapping)):  # noqa: SIM101  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            error = f"a message is of type `{type(message).__name__}` (must be a dict)"
            raise TypeError(error)
        if not has_known_role(role := message.get("role")):
            logger.warning("message with unknown role %s: not sent", short_repr(role))
        own = OwnMessage(message)
        content = message.get("content")
        if (kept := self._aside.shorten_content(role, content)) is not content:
            _set_key(own, "content", kept)
        metadata: Any = message.get("metadata")
        if not metadata:
            _set_key(own, "metadata", {"timestamp": self._timestamp()})
        elif isinstance(metadata, dict) and "timestamp" not in metadata:
            _set_key(own, "metadata", {**metadata, "timestamp": self._timestamp()})
        return own

    def _show_all(self) -> None:
        self._shown.show_all(*self._sent_messages())

    def _sent_messages(self) -> tuple[list[Message], list[int]]:
        """Return all messages that can be sent, and their estimated tokens."""
        both = zip(self._messages, self._tokens, strict=True)
        sent = [pair for pair in both if can_be_sent(pair[0])]
        return [message for message, _ in sent], [tokens for _, tokens in sent]

    def note_usage(self, usage: Any) -> None:
        """Correct the estimates by what a provider counted for the messages of the last request.

        Args:
            usage: Has `input_tokens`, as an attribute or a key; anything else says nothing.
        """
        self._meter.note(usage)

    @session_bound
    def _hear_response(self, event: str, data: Mapping[str, Any]) -> None:
        del event
        # What a call has a purpose for is not about these messages.
        if data.get("status") == "ok" and "purpose" not in data:
            self.note_usage(data.get("usage"))

    async def compact(self, provider: Any = None) -> tuple[int, int]:
        """Shorten the view at once, to the share of what it has now that a compaction leaves.

        Args:
            provider: The provider that will get the next request.

        Returns:
            The estimated tokens of its messages, before and after.
        """
        await self.get_messages_for_request(provider=provider)
        before = self._shown.view.total
        await self._shown.shorten(min(before, self._shown.room))
        return before, self._shown.view.total

    @property
    def writes_summaries(self) -> bool:
        """Whether a model writes a summary of what is left out."""
        return self._settings.summarize

    def compact_later(self, wish: str = "") -> None:
        """Shorten the view as `compact` does, but with the next request, whose turn can ask a model.

        Args:
            wish: What the summary is to have above all; empty for nothing particular.
        """
        self._shown.wish = wish

    def describe_window(self) -> dict[str, Any]:
        """Return what the next request has, in estimated tokens, and what was counted last.

        Returns:
            `system` (None where it is known from the next request on), `notes`, `messages` and
            `results` of tools; and `last`, None or the tokens that were `estimated` for the messages
            of the last request and `counted` by the provider.
        """
        view, note = self._shown.view, self.system_note
        is_known = self._system.factory is None or bool(self._system.last_text)
        text = self._system.last_text
        system = estimate_tokens({"role": "system", "content": text}) if text else 0
        notes = 0 if note is None else len(note.text) // CHARACTERS_PER_TOKEN
        pairs = zip(view.messages, view.tokens, strict=True)
        results = sum(tokens for message, tokens in pairs if message.get("role") == "tool")
        return {
            "system": max(0, system - notes) if is_known else None,
            "notes": notes,
            "messages": view.total - results,
            "results": results,
            "last": self._meter.describe(),
        }

    def _should_compact(self) -> bool:
        """Whether the view exceeds the threshold of the last request's budget."""
        return self._shown.is_too_long

    async def _compact_internal(self) -> None:
        """Shorten the view for that budget, and emit the event."""
        await self._shown.shorten()


SimpleContextManager = SimpleContext
"""The name by which modules of others import the class, to derive from it."""


async def mount_context(context: SimpleContext, coordinator: Any) -> Callable[[], Awaitable[None]]:
    """Give a session a context that is its own; return what ends both."""
    return _Mount(context, await context.attach(coordinator)).end


class _Mount:
    """A context that is one session's own. A partial call would take 80 bytes more of each."""

    __slots__ = ("_context", "_leave")

    def __init__(self, context: SimpleContext, leave: Callable[[], Awaitable[None]]) -> None:
        self._context = context
        self._leave = leave

    async def end(self) -> None:
        await self._leave()
        self._context.end()


class _Attachment:
    """A context in a session. Closures would take 300 bytes more of each."""

    __slots__ = ("_context", "_coordinator", "_remove")

    def __init__(
        self, context: SimpleContext, coordinator: Any, remove: Callable[[], object] | None
    ) -> None:
        self._context = context
        self._coordinator = coordinator
        self._remove = remove

    async def leave(self) -> None:
        if self._remove is not None:
            self._remove()
        self._context._detach(self._coordinator)  # pyright: ignore[reportPrivateUsage] -- of this module


def _list_events() -> list[str]:
    return [*HISTORY_EVENTS, CONTEXT_SYSTEM_PROMPT]


def _write_time(clock: Callable[[], datetime]) -> str:
    return clock().isoformat(timespec="milliseconds")


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the context of the session; return what ends it."""
    return await mount_context(
        SimpleContext(config, getattr(coordinator, "hooks", None)), coordinator
    )
