"""What a model has written of a response that is not whole."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any

from amplifier_core import events

_ENDS = frozenset({events.PROVIDER_RESPONSE, events.PROVIDER_REQUEST, events.EXECUTION_START})
"""At these events no response is being written."""

_MOST_CHARS = 4 * 1024**2
"""Of an unfinished block, this much is kept: no model writes more, but a server may."""


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
            self._texts[data["block_index"]] = whole[:_MOST_CHARS]

    @property
    def text(self) -> str:
        """What there is of it; empty while no response is being written."""
        texts = self._texts.values()
        return "".join(text if isinstance(text, str) else text.getvalue() for text in texts)

    def take(self) -> str:
        """Return the text and forget it."""
        text = self.text
        self._texts.clear()
        return text
