"""What requests contain of a conversation: a view that is shortened only when it must be."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from amplifier_core.events import CONTEXT_COMPACTION
from amplifier_core.llm_errors import ContextLengthError
from amplifier_providers.requests.token_estimate import CHARACTERS_PER_TOKEN

from .compaction import View, compact
from .context_settings import ContextSettings
from .messages import Message
from .summary import summarize

logger = logging.getLogger(__name__)


class RequestRetention:
    """The capability `context.request_retention`: keeps messages in requests.

    Within `with retention.keep([message, …]):`, every request has these messages of the
    conversation whole, whatever is left out besides. Where they do not fit together with what every
    request needs, `get_messages_for_request` raises a `ContextLengthError`.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        """Keep nothing."""
        self._kept: tuple[list[Mapping[str, Any]], ...] = ()

    @contextmanager
    def keep(self, messages: Iterable[Mapping[str, Any]]) -> Generator[None]:
        """Keep messages of the conversation, as `get_messages` returns them, or copies of them."""
        kept = list(messages)
        self._kept += (kept,)
        try:
            yield
        finally:
            # By identity: two requests may keep equal messages.
            self._kept = (*(each for each in self._kept if each is not kept),)

    @property
    def is_used(self) -> bool:
        """Whether any message is kept."""
        return bool(self._kept) and any(self._kept)

    def is_kept(self, message: Message) -> bool:
        """Whether requests must contain this message."""
        return any(message is each or message == each for each in self._list_kept())

    def _list_kept(self) -> Iterator[Mapping[str, Any]]:
        for kept in self._kept:
            yield from kept


_SUMMARY_SHARE = 0.1
"""Share of a request that a summary may take."""
_SUMMARIZED_SHARE = 0.5
"""Share of a request that the messages to summarize may take."""


class SentView:
    """The view of one conversation."""

    __slots__ = (
        "_hooks",
        "_retention",
        "_settings",
        "budget",
        "described",
        "is_shortened",
        "room",
        "view",
        "wish",
    )

    def __init__(self, settings: ContextSettings, hooks: Any, retention: RequestRetention) -> None:
        """Show nothing yet; `hooks` gets `context:compaction`, None for no events."""
        self._settings = settings
        self._hooks = hooks
        self._retention = retention
        self.view = View()
        self.room: float = settings.max_tokens
        """The estimated tokens that the view may have."""
        self.budget = 0
        """The tokens of the last request's budget."""
        self.is_shortened = False
        """Whether something is left out of the view, or shortened in it."""
        self.wish: str | None = None
        """What a person wants in the summary that the next request has; None where none is asked for."""
        self.described: tuple[object, dict[str, Any]] | None = None
        """The `lineage` of a shortened view, and what it is as JSON; None as long as nobody asks."""

    def connect(self, hooks: Any) -> None:
        """Emit to this registry from now on; None for no events."""
        self._hooks = hooks

    def show_all(self, messages: list[Message], tokens: list[int]) -> None:
        """Show these messages, with their estimated tokens; the lists are the view's own now."""
        self.view = View(messages, tokens, sum(tokens))
        self.is_shortened, self.described = False, None

    def show_shortened(self, view: View, budget: int) -> None:
        """Show a view that was shortened for a budget."""
        self.view, self.budget, self.is_shortened = view, budget, True

    @property
    def is_too_long(self) -> bool:
        """Whether the view exceeds the threshold."""
        return self.view.is_over(self.room * self._settings.compact_threshold)

    async def shorten(self, room: float | None = None) -> None:
        """Shorten the view, and emit the event.

        Args:
            room: The estimated tokens that it may have; None for `room`.
        """
        is_needed = room is None
        before, room = self.view, self.room if room is None else room
        after = compact(before, room, self._settings)
        if after.total >= before.total:
            level = logging.WARNING if is_needed else logging.DEBUG
            logger.log(level, "conversation too long: %d tokens, %d fit", after.total, room)
            return
        if self._settings.summarize and after.left_out:
            after = await self._add_summary(before, after, room)
            if self.view is not before:
                return  # the conversation was replaced meanwhile
        self.show_shortened(after, self.budget)
        await self._emit_compaction(before, after)

    async def with_kept(self, messages: list[Message], tokens: list[int]) -> View:
        """Return a view for one request with the messages that `retention` keeps.

        Args:
            messages: The whole conversation.
            tokens: The estimated tokens of its messages.

        Raises:
            ContextLengthError: They do not fit.
        """
        keeps = self._retention.is_kept
        wanted = {id(message) for message in messages if keeps(message)}
        if wanted <= set(map(id, self.view.messages)):
            after = self.view
        else:
            after = compact(View(messages, tokens, sum(tokens)), self.room, self._settings, keeps)
            await self._emit_compaction(self.view, after)
        if after.total > self.room:
            kept = sum(count for each, count in zip(messages, tokens, strict=True) if keeps(each))
            raise ContextLengthError(
                f"the messages that `context.request_retention` keeps do not fit: they have about"
                f" {kept:,} tokens, the smallest request with them {after.total:,}, and"
                f" {int(self.room):,} fit"
            )
        return after

    async def _add_summary(self, before: View, plain: View, room: float) -> View:
        """Return the shortened view with a summary of what it leaves out, if a model writes one."""
        known = before.copy()
        most = min(self._settings.summary_tokens, max(50, int(room * _SUMMARY_SHARE)))
        # Planned with the longest summary, so that no message is left out without being in it.
        known.summary = "x" * (most * CHARACTERS_PER_TOKEN)
        planned = compact(known, room, self._settings)
        text = await summarize(
            planned.left_out, before.summary, most, room * _SUMMARIZED_SHARE, self.wish
        )
        count = len(known.messages)
        if before.messages[:count] != known.messages:
            # A result was put right behind its call, somewhere in the middle.
            return compact(before, room, self._settings)
        after = plain
        if text is not None:
            known.summary = text
            after = compact(known, room, self._settings)
        for message, tokens in zip(before.messages[count:], before.tokens[count:], strict=True):
            after.add(message, tokens=tokens)
        return after

    async def _emit_compaction(self, before: View, after: View) -> None:
        logger.info("context compacted from %d to %d tokens", before.total, after.total)
        if self._hooks is None:
            return
        await self._hooks.emit(
            CONTEXT_COMPACTION,
            {
                "budget": int(self.room),
                "before_tokens": before.total,
                "after_tokens": after.total,
                "before_messages": len(before.messages),
                "after_messages": len(after.messages),
                "messages_removed": max(0, after.messages_removed - before.messages_removed),
                "results_truncated": max(0, after.results_truncated - before.results_truncated),
                "is_summarized": after.summary not in (None, before.summary),
            },
        )
