"""What a model has written of a response that is not whole."""

from __future__ import annotations

from typing import Any, cast

from ._native.choice import extension

_ROOM = 16 * 1024**2
"""Characters that are kept, `_PIECE` more for each piece: no model writes more, but a server may."""
_PIECE = 48


class PythonUnfinishedText:
    """The text of the response that is being written, from the events of its blocks.

    That of a response which ends with an error stays until it is cleared.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._blocks: dict[object, list[str]] = {}
        self._room = _ROOM

    def add(self, data: dict[str, Any]) -> None:
        """Add what `content_block:delta` says; there are many of these."""
        text = data.get("delta")
        if data.get("block_type") != "text" or not isinstance(text, str) or self._room <= 0:
            return
        self._room -= len(text) + _PIECE
        self._blocks.setdefault(data.get("block_index"), []).append(text)

    def end(self, data: dict[str, Any]) -> None:
        """Let go of a text that was taken back; keep one text of a block where there are two.

        What is kept of a text that is longer than the room stays as it is.
        """
        index = data.get("block_index")
        if index not in self._blocks:
            return
        if data.get("dropped"):
            self._room += sum(len(text) + _PIECE for text in self._blocks.pop(index))
            return
        block = data.get("block")
        whole = cast("dict[str, Any]", block).get("text") if isinstance(block, dict) else None
        if isinstance(whole, str) and self._room > 0:
            self._blocks[index] = [whole]

    def clear(self, _data: object = None) -> None:
        """Forget it: the response is whole, or another one begins."""
        self._blocks.clear()
        self._room = _ROOM

    def __str__(self) -> str:
        """Return what there is of it."""
        return "".join(text for texts in self._blocks.values() for text in texts)


UnfinishedText: type[PythonUnfinishedText] = (
    PythonUnfinishedText if extension is None else extension._UnfinishedText
)
