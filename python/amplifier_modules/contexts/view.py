"""The messages of a conversation that requests contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from amplifier_providers.requests.token_estimate import estimate_tokens

from .groups import Message


@dataclass
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
