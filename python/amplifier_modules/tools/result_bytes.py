"""The limit of a tool's result in bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

MAX_RESULT_BYTES = 256 * 1024
"""Bytes of a result unless the settings say otherwise."""
MIN_RESULT_BYTES = 4096
"""Below this there is no room for the figures of a result."""

_CLOSING_BYTES = 256
"""Kept free for `omitted` and for what ends a result."""

ItemT = TypeVar("ItemT")


def written_bytes(value: Any) -> int:
    """Return how many bytes a value takes in the JSON that the model reads.

    Raises:
        TypeError, ValueError: It cannot be written as JSON.
    """
    try:
        return len(json.dumps(value))
    except RecursionError:
        message = f"a `{type(value).__name__}` is nested too deep to be written as JSON"
        raise ValueError(message) from None


class ResultBytes:
    """What is left of the bytes of one result while it is put together.

    Args:
        limit: The bytes of the whole result.
        figures: The part of the result that has to be in it.
    """

    def __init__(self, limit: int, figures: dict[str, Any]) -> None:
        self.left = limit - _CLOSING_BYTES - written_bytes(figures)

    def take_first(
        self, items: Iterable[ItemT], written: Callable[[ItemT], Any], share: float = 1.0
    ) -> list[Any]:
        """Return the first items, as they are written, up to the one for which there is no room.

        Args:
            items: What to write.
            written: Returns the form of an item in the result.
            share: The part of the room that they may take.
        """
        room = int(self.left * share)
        taken: list[Any] = []
        for item in items:
            value = written(item)
            size = written_bytes(value) + 2  # the comma and the space before the next one
            if size > room:
                break
            room -= size
            self.left -= size
            taken.append(value)
        return taken

    def take_beginning(self, content: bytes) -> bytes:
        """Return the whole lines that fit; if not even the first one does, its whole characters."""
        if _text_bytes(content) <= self.left:
            return content
        fits, too_long = 0, len(content)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if _text_bytes(content[:middle]) <= self.left:
                fits = middle
            else:
                too_long = middle
        lines = content.rfind(b"\n", 0, fits) + 1
        return content[:lines] or whole_characters(content[:fits])


def echo_argument(text: str, limit: int) -> str:
    """Return an argument for a result of `limit` bytes, which it must not fill alone."""
    most = limit // 64
    return text if len(text) <= most else text[:most] + "…"


def clip_bytes(text: str, limit: int) -> str:
    """Return a text of at most `limit` bytes in UTF-8, and say how much was cut.

    What is cut is counted in bytes.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= limit:
        return text
    note = "… [{} more bytes cut]"
    kept = whole_characters(encoded[: max(0, limit - len(note) - 20)])
    return kept.decode("utf-8", "replace") + note.format(f"{len(encoded) - len(kept):,}")


def _text_bytes(content: bytes) -> int:
    return written_bytes(content.decode("utf-8", "replace"))


def whole_characters(content: bytes) -> bytes:
    """Return UTF-8 without the character that its end cuts in two."""
    for length in range(1, min(4, len(content) + 1)):
        lead = content[-length]
        if lead >= 0xC0:
            needed = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2
            return content[:-length] if needed > length else content
        if lead < 0x80:
            break
    return content
