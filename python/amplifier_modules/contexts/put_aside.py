"""Long texts of tools and users: a reference in the conversation, the whole text beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from .messages import RESULTS
from .stored_texts import StoredTexts

TOOL_NAME = "read_stored"
"""The tool that reads them, unless another one has this name."""
MIN_BYTES = 4_096
"""Below this there is no room for a beginning, an end and the reference."""

_ROLES = (*RESULTS, "user")
"""Whose texts are put aside. No set: a role of somebody's message may have no hash."""


class PutAside:
    """Puts texts aside that are too long for a conversation.

    The results of tools, and texts and text documents of users. Images stay.
    """

    __slots__ = ("_most_bytes", "_tool_name", "texts")

    def __init__(
        self, texts: StoredTexts, most_bytes: int, tool_name: Callable[[], str] = lambda: TOOL_NAME
    ) -> None:
        """Put aside what is longer than so many bytes of UTF-8; 0 for nothing.

        Args:
            texts: Where it is kept.
            most_bytes: The longest text of a conversation.
            tool_name: Returns the name of the tool that reads it.
        """
        self.texts = texts
        self._most_bytes = most_bytes
        self._tool_name = tool_name

    def shorten_content(self, role: Any, content: Any) -> Any:
        """Return the content of a message for the conversation: its own if it is short enough."""
        if not self._most_bytes or role not in _ROLES:
            return content
        if isinstance(content, str):
            return self._put_text(content) if _count_bytes(content) > self._most_bytes else content
        if isinstance(content, list):
            return self._put_blocks(cast("list[Any]", content))
        return content

    def _put_blocks(self, blocks: list[Any]) -> list[Any]:
        """Put the longest texts aside until the others are short enough together."""
        sizes = [_count_bytes(_read(block) or "") for block in blocks]
        total = sum(sizes)
        if total <= self._most_bytes:
            return blocks
        kept = list(blocks)
        for index in sorted(range(len(blocks)), key=sizes.__getitem__, reverse=True):
            if total <= self._most_bytes or sizes[index] <= self._most_bytes // 8:
                break
            kept[index] = _replace_text(kept[index], self._put_text)
            total += _count_bytes(_read(kept[index]) or "") - sizes[index]
        return kept

    def _put_text(self, text: str) -> str:
        """Put a text aside; return its beginning, the reference, and its end."""
        # A character has four bytes at most, and both parts take an eighth of the limit.
        beginning, end = text[: self._most_bytes // 64], text[-(self._most_bytes // 128) :]
        stored = self.texts.put(text)
        if stored is None:
            note = "The middle was too long to be kept."
        else:
            note = (
                f"{stored.bytes:,} bytes in {stored.lines:,} lines. The middle is left out here; the"
                f" whole text is stored as `{stored.id}`. Read parts of it with the tool"
                f' `{self._tool_name()}`: {{"id": "{stored.id}", "line": 1}} or'
                f' {{"id": "{stored.id}", "search": "…"}}.'
            )
        return f"{beginning}\n\n[{note}]\n\n{end}"


def _read(block: Any) -> str | None:
    """Return the text of a block, or of the document in it; None if it has none."""
    if not isinstance(block, dict):
        return None
    fields = cast("dict[str, Any]", block)
    text = fields.get("text")
    if fields.get("type") == "document" and isinstance(fields.get("source"), dict):
        source = cast("dict[str, Any]", fields["source"])
        text = source.get("data") if source.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _replace_text(block: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    if isinstance(block.get("text"), str):
        return {**block, "text": change(block["text"])}
    return {**block, "source": {**block["source"], "data": change(block["source"]["data"])}}


def _count_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
