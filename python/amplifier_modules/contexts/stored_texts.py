"""Texts that are too long for a conversation, kept beside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class StoredText:
    """What is known of a text without reading it."""

    id: str
    bytes: int
    """Its length in UTF-8."""
    lines: int


class StoredTexts(Protocol):
    """Where the texts are."""

    def put(self, text: str) -> StoredText | None:
        """Keep a text; None if it is longer than all of them may be together."""
        ...

    def get(self, id: str) -> str | None:
        """Return a text; None if there is none of this id, or no longer."""
        ...

    def list_ids(self) -> list[str]:
        """Return the ids, the oldest first."""
        ...

    def is_empty(self) -> bool:
        """Whether there are none."""
        ...

    def clear(self) -> None:
        """Forget all of them."""
        ...


class MemoryTexts:
    """Texts in memory, which end with the session. The oldest are dropped for new ones."""

    __slots__ = ("_bytes", "_most_bytes", "_texts")

    def __init__(self, most_bytes: int) -> None:
        """Keep at most so many bytes of UTF-8."""
        self._most_bytes = most_bytes
        # A dict once there is a text: most sessions have none.
        self._texts: dict[str, tuple[StoredText, str]] | None = None
        self._bytes = 0

    def put(self, text: str) -> StoredText | None:
        """Keep a text; None if it is longer than all of them may be together."""
        stored = describe_text(text)
        if stored.bytes > self._most_bytes:
            return None
        texts = self._texts = self._texts or {}
        if (known := texts.pop(stored.id, None)) is not None:
            self._bytes -= known[0].bytes
        texts[stored.id] = stored, text
        self._bytes += stored.bytes
        while self._bytes > self._most_bytes:
            oldest, _ = texts.pop(next(iter(texts)))
            self._bytes -= oldest.bytes
        return stored

    def get(self, id: str) -> str | None:
        """Return a text; None if there is none of this id, or no longer."""
        found = (self._texts or {}).get(id)
        return None if found is None else found[1]

    def list_ids(self) -> list[str]:
        """Return the ids, the oldest first."""
        return list(self._texts or ())

    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self._texts

    def clear(self) -> None:
        """Forget all of them."""
        self._texts = None
        self._bytes = 0


def describe_text(text: str) -> StoredText:
    """Return what is known of a text; the same text has the same id."""
    encoded = text.encode("utf-8", "surrogatepass")
    lines = text.count("\n") + (not text.endswith("\n"))
    return StoredText(hashlib.sha256(encoded).hexdigest()[:16], len(encoded), lines)
