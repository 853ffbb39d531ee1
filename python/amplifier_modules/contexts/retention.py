"""Messages that requests must contain whole, as long as a program asks for it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .groups import Message


class RequestRetention:
    """The capability `context.request_retention`: keeps messages in requests.

    Within `with retention.keep([message, …]):`, every request has these messages of the
    conversation whole, whatever is left out besides. Where they do not fit together with what every
    request needs, `get_messages_for_request` raises a `ContextLengthError`.
    """

    def __init__(self) -> None:
        """Keep nothing."""
        self._kept: list[list[Mapping[str, Any]]] = []

    @contextmanager
    def keep(self, messages: Iterable[Mapping[str, Any]]) -> Generator[None]:
        """Keep messages of the conversation, as `get_messages` returns them, or copies of them."""
        kept = list(messages)
        self._kept.append(kept)
        try:
            yield
        finally:
            # By identity: two requests may keep equal messages.
            self._kept = [each for each in self._kept if each is not kept]

    @property
    def is_used(self) -> bool:
        """Whether any message is kept."""
        return any(self._kept)

    def keeps(self, message: Message) -> bool:
        """Whether requests must contain this message."""
        return any(message is each or message == each for each in self._all())

    def _all(self) -> Iterator[Mapping[str, Any]]:
        for kept in self._kept:
            yield from kept
