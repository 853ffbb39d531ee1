"""The text and the tool results of a turn, as blocks of the Claude dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import Any, cast

from amplifier_core import events

_ENDS = frozenset({events.PROVIDER_RESPONSE, events.PROVIDER_REQUEST, events.EXECUTION_START})
"""At these events no response is being written."""

_MOST_CHARS = 4 * 1024**2
"""Of an unfinished block, this much is kept: no model writes more, but a server may."""


def text_block(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def turn_content(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the text and tool result blocks of what followed a prompt."""
    return [block for message in messages for block in _blocks(message)]


def _blocks(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    if message.get("role") == "tool":
        yield {
            "type": "tool_result",
            "tool_use_id": str(message.get("tool_call_id") or ""),
            "content": "\n".join(_texts(content)),
            "is_error": True if message.get("is_error") else None,
        }
    elif message.get("role") == "assistant":
        yield from map(text_block, _texts(content))


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in cast("Iterable[object]", content or ()):
        if isinstance(block, Mapping):
            fields = cast("Mapping[str, object]", block)
            if fields.get("type") == "text" and isinstance(text := fields.get("text"), str):
                yield text


class UnfinishedText:
    """The text of the response that is being written, from the events of a session.

    That of a response which ends with an error stays.
    """

    def __init__(self) -> None:
        self._texts: dict[object, StringIO | str] = {}

    def note(self, event: str, data: Mapping[str, Any]) -> None:
        """Take an event into account."""
        if event in _ENDS:
            self._texts.clear()
        elif event == events.CONTENT_BLOCK_DELTA and data.get("block_type") == "text":
            text = self._texts.setdefault(data.get("block_index"), StringIO())
            if isinstance(delta := data.get("delta"), str) and isinstance(text, StringIO):
                text.write(delta[: max(_MOST_CHARS - text.tell(), 0)])
        elif event == events.CONTENT_BLOCK_END and data.get("block_index") in self._texts:
            self._end(data)

    def _end(self, data: Mapping[str, Any]) -> None:
        """Let go of a text that was taken back; keep one text of a block where there are two."""
        whole = data["block"].get("text") if isinstance(data.get("block"), Mapping) else None
        if data.get("dropped"):
            del self._texts[data["block_index"]]
        elif isinstance(whole, str):
            self._texts[data["block_index"]] = whole

    def take(self) -> str:
        """Return the text and forget it."""
        texts = [
            text if isinstance(text, str) else text.getvalue() for text in self._texts.values()
        ]
        self._texts.clear()
        return "".join(texts)
