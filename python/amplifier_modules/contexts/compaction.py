"""The view of a conversation that requests contain, and its compaction where it is too long.

The conversation itself stays complete in the context. Eight levels follow each other until the view
is short enough: they truncate more and more of the old tool results, and between that leave out old
messages and protect fewer and fewer of the recent ones; the last one truncates the user's first
message. A tool call is left out always together with its results. System messages, the user's first
and last message, the newest group of messages, and the newest tool results stay.

If even that is too long for the budget, the newest tool results are truncated, too: without that
the request could not be sent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field

from amplifier_providers.requests.token_estimate import estimate_tokens
from amplifier_providers.running.count_noun import count_noun
from amplifier_providers.settings import Settings

from .messages import NOTES, RESULTS, SYSTEM, Message, group_messages, is_by_user, program_of


@dataclass(slots=True)
class View:
    """The messages for requests, with their estimated tokens."""

    messages: list[Message] = field(default_factory=list[Message])
    tokens: list[int] = field(default_factory=list[int])
    total: int = 0
    results_truncated: int = 0
    messages_removed: int = 0
    summary: str | None = None
    """What a model wrote about the messages that were removed."""
    lineage: object = field(default_factory=object)
    """As long as it is the same object, messages were only added at the end."""
    left_out: Sequence[Message] = ()
    """The messages that the last compaction removed."""

    def add(self, message: Message, before_last: int = 0, tokens: int | None = None) -> None:
        """Add a message, at the end or before the last ones.

        Args:
            message: The message.
            before_last: The number of messages that stay behind it.
            tokens: Its estimated tokens, if they are known.
        """
        count = estimate_tokens(message) if tokens is None else tokens
        self.total += count
        if before_last:
            self.lineage = object()
            self.messages.insert(-before_last, message)
            self.tokens.insert(-before_last, count)
        else:
            self.messages.append(message)
            self.tokens.append(count)

    def copy(self) -> View:
        """Return a copy that later additions do not reach."""
        lists = {"messages": list(self.messages), "tokens": list(self.tokens)}
        return replace(self, **lists, lineage=object())

    def is_over(self, budget: float) -> bool:
        """Whether the view has more tokens than this."""
        return self.total > budget


Verbosity = Literal["none", "short", "detailed"]

SOURCE = "compaction"
"""The `source` in the metadata of the notice."""


def is_notice(message: Message) -> bool:
    """Whether a message is the notice of a context."""
    return program_of(message) == SOURCE


def make_notice(
    verbosity: Verbosity, removed: int, truncated: int = 0, summary: str | None = None
) -> Message | None:
    """Return the notice; None where none is wanted and there is no summary.

    Args:
        verbosity: How much it says.
        removed: The number of messages that are left out.
        truncated: The number of tool results that are shortened.
        summary: What was in the messages that are left out.
    """
    if verbosity == "none" and summary is None:
        return None
    are = "is" if removed == 1 else "are"
    text = f"{count_noun(removed, 'earlier message')} of this conversation {are} not shown, "
    text += "because it has grown too long."
    if verbosity == "detailed":
        shortened = f"{count_noun(truncated, 'tool result')} {'is' if truncated == 1 else 'are'}"
        text += f" The first message of the user and the newest messages are shown. {shortened}"
        text += " shortened, and say so at their end. What is missing can be asked for again."
    if summary is None:
        content = f"<system-reminder>{text}</system-reminder>"
        return {"role": "user", "content": content, "metadata": {"source": SOURCE}}
    content = f"<system-reminder>{text} A summary of them:\n\n{summary}\n</system-reminder>"
    return {"role": "user", "content": content, "metadata": {"source": SOURCE, "is_summary": True}}


def _make_whole(value: Any) -> Any:
    return math.floor(value) if isinstance(value, float) and math.isfinite(value) else value


Count = Annotated[int, BeforeValidator(_make_whole), Field(ge=0, le=10**12)]
"""A whole number; a float, such as `2e5`, is rounded down."""

_SAVED_CHARS = 100
"""A text that is longer than its limit by less than this is left as it is."""


class CompactionSettings(Settings):
    """How a view is shortened."""

    unknown_keys = "ignore"

    compact_threshold: float = Field(default=0.92, ge=0, le=1)
    """Share of the budget above which older content is left out of requests."""
    target_usage: float = Field(default=0.50, ge=0, le=1)
    """Share of the budget that a shortened request aims at."""
    protected_recent: float = Field(default=0.30, ge=0, le=1)
    """Share of the newest messages that are left out last."""
    protected_tool_results: Count = 5
    """How many of the newest tool results are truncated only where the request could not be sent
    otherwise."""
    truncate_chars: Count = 250
    """Characters that stay of a truncated tool result."""
    compaction_notice: Verbosity = "short"
    """What a request says in the place of the messages that are left out: `none`, `short` or
    `detailed`."""


@dataclass(frozen=True)
class Level:
    """One step: a share of results to truncate, or a share of the protection that is left."""

    truncated: float | None = None
    """Share of the tool results, from the oldest on."""
    protection: float | None = None
    """Share of `protected_recent`."""


LEVELS = (
    Level(truncated=0.25),
    Level(protection=1.0),
    Level(truncated=0.50),
    Level(protection=0.5),
    Level(truncated=0.75),
    Level(protection=0.25),
    Level(protection=0.0),
)
"""The levels before the last, which truncates the user's first message."""


def _match_nothing(message: Message) -> bool:
    del message
    return False


@dataclass
class _Work:
    """A view while it is shortened: `messages` keep their places, `removed` are left out."""

    view: View
    settings: CompactionSettings
    must_stay: Callable[[Message], bool]
    messages: list[Message] = field(init=False)
    tokens: list[int] = field(init=False)
    total: int = field(init=False)
    truncated: int = 0
    removed: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self.messages, self.tokens = list(self.view.messages), list(self.view.tokens)
        self.total = self.view.total
        by_user = [index for index, each in enumerate(self.messages) if is_by_user(each)]
        self.first_of_user, self.last_of_user = (by_user[0], by_user[-1]) if by_user else (-1, -1)
        self.groups = [
            group for group in list(group_messages(self.messages))[:-1] if self._may_go(group)
        ]

    def _may_go(self, group: list[int]) -> bool:
        first = self.messages[group[0]]
        is_of_user = self.first_of_user in group or self.last_of_user in group
        is_ours = first.get("role") in SYSTEM or program_of(first) in (SOURCE, NOTES)
        return not (is_of_user or is_ours or any(self.must_stay(self.messages[at]) for at in group))

    def truncate_results(self, share: float, protected: int, goal: float) -> None:
        """Truncate this share of the results, the oldest first, until the goal is reached."""
        results = [
            index
            for index, message in enumerate(self.messages)
            if message.get("role") in RESULTS and index not in self.removed
        ]
        most = max(0, len(results) - protected)
        for index in results[: min(math.ceil(share * len(results)), most)]:
            if self.total <= goal:
                return
            self.truncated += self._truncate(index)

    def truncate_first_of_user(self) -> None:
        """Truncate the user's first message, unless it is the last one, too."""
        if self.first_of_user != self.last_of_user:
            self._truncate(self.first_of_user)

    def _truncate(self, index: int) -> bool:
        message = self.messages[index]
        shortened = None
        if not self.must_stay(message):
            shortened = truncate_message(message, self.settings.truncate_chars)
        if shortened is not None:
            self.total -= self.tokens[index]
            self.messages[index] = shortened
            self.tokens[index] = estimate_tokens(shortened)
            self.total += self.tokens[index]
        return shortened is not None

    def remove_messages(self, protection: float, goal: float) -> None:
        """Leave out groups, the oldest first, but none that begins in the protected part."""
        protected = self.settings.protected_recent * protection
        recent = len(self.messages) * (1 - protected)
        while self.groups and self.groups[0][0] < recent and self.total > goal:
            group = self.groups.pop(0)
            if not self.removed:
                self.total += self._notice_tokens()
            self.removed.update(group)
            self.total -= sum(self.tokens[index] for index in group)

    def _notice_tokens(self) -> int:
        """How many more tokens the notice will have than the one that is there."""
        count = self.view.messages_removed + len(self.messages)
        planned = self._build_notice(count)
        old = sum(
            tokens
            for message, tokens in zip(self.messages, self.tokens, strict=True)
            if is_notice(message)
        )
        return (0 if planned is None else estimate_tokens(planned)) - old

    def _build_notice(self, count: int) -> Message | None:
        truncated = self.view.results_truncated + self.truncated
        return make_notice(self.settings.compaction_notice, count, truncated, self.view.summary)

    def finish_view(self) -> View:
        """Return the view, with a notice in the place of what was left out."""
        view = View(summary=self.view.summary)
        view.results_truncated = self.view.results_truncated + self.truncated
        view.messages_removed = self.view.messages_removed + len(self.removed)
        view.left_out = [self.view.messages[index] for index in sorted(self.removed)]
        waiting_notice = self._build_notice(view.messages_removed) if self.removed else None
        for index, message in enumerate(self.messages):
            is_old_notice = bool(self.removed) and is_notice(message)
            if waiting_notice is not None and (index in self.removed or is_old_notice):
                view.add(waiting_notice)
                waiting_notice = None
            if index not in self.removed and not is_old_notice:
                view.add(message, tokens=self.tokens[index])
        return view


def compact(
    view: View,
    budget: float,
    settings: CompactionSettings,
    must_stay: Callable[[Message], bool] = _match_nothing,
) -> View:
    """Return a view that fits the budget, or comes as close as possible.

    Results are truncated and old messages left out until the target is reached, recent messages
    until half-way between it and the threshold, all else only while the view is above that.

    Args:
        view: The view as it is.
        budget: The estimated tokens that fit.
        settings: How it is shortened.
        must_stay: Whether a message stays as it is in any case.
    """
    work = _Work(view, settings, must_stay)
    target, most = budget * settings.target_usage, budget * settings.compact_threshold
    protected = settings.protected_tool_results
    for level in LEVELS:
        if level.truncated is not None:
            work.truncate_results(level.truncated, protected, target)
        elif level.protection is not None:
            goal = target if level.protection == 1 else (target + most) / 2
            work.remove_messages(level.protection, goal)
    if work.total > most:
        work.truncate_first_of_user()
    if work.total > most:
        work.truncate_results(1.0, 0, most)
    return work.finish_view()


def truncate_message(message: Message, characters: int) -> Message | None:
    """Return a message with so many characters of its text, None if that saves nothing."""
    content = message.get("content")
    if isinstance(content, list):
        # Images are replaced by a placeholder.
        content = "\n".join(map(_text_of, cast("list[Any]", content)))
    if not isinstance(content, str) or len(content) <= characters + _SAVED_CHARS:
        return None
    cut = len(content) - characters
    return {**message, "content": f"{content[:characters]}\n[{cut} more characters left out]"}


def _text_of(block: Any) -> str:
    return (
        str(cast("Message", block).get("text", "[image]"))
        if isinstance(block, dict)
        else str(block)
    )
