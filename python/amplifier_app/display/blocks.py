"""The content blocks of one model response, drawn in order and once each."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from amplifier_app.printable import printable_line
from amplifier_guard import TerminalText

if TYPE_CHECKING:
    from amplifier_app.display.renderer import ContentBlockRenderer, Drawing
    from amplifier_app.display.screen import Screen


@dataclass
class _Block:
    kind: str
    seen: int = 0
    """How many characters of it came."""
    checksum: int = 0
    """Of them, instead of the text itself, which may be long."""
    waiting: list[str] = field(default_factory=list[str])
    shown: bool = False
    """Whether something of it is on the screen."""
    ended: bool = False
    text: TerminalText = field(default_factory=TerminalText)


class ResponseBlocks:
    """Draws the text and thinking blocks of one response.

    A provider may interleave its blocks: one is drawn while it arrives, the others wait. A loop
    may repeat the events of the provider: a block that has ended stays ended. One that the provider
    takes back is closed where it is, and a line says so before the next one.
    """

    def __init__(self, screen: Screen, renderer: ContentBlockRenderer) -> None:
        self._screen = screen
        self._renderer = renderer
        self._blocks: dict[int, _Block] = {}
        # Of those above; a plain dict looks at its empty beginning again and again.
        self._unclosed: OrderedDict[int, _Block] = OrderedDict()
        self._current: _Block | None = None
        self._drawing: Drawing | None = None
        self._took_back = False

    @property
    def drew_text(self) -> bool:
        """Whether text of the answer is on the screen, apart from what was taken back."""
        return any(block.shown and block.kind == "text" for block in self._blocks.values())

    def start(self, data: Mapping[str, Any]) -> bool:
        """Start a block; false if it is known already."""
        index = _read_index(data)
        if index in self._blocks:
            return False
        self._block(index, data)
        return True

    def add_delta(self, data: Mapping[str, Any]) -> None:
        """Add text to a block."""
        block = self._block(_read_index(data), data)
        text = data.get("delta")
        if not block.ended and isinstance(text, str):
            self._add(block, text)

    def end(self, data: Mapping[str, Any]) -> None:
        """End a block; draw what was not streamed. One that is dropped may start again."""
        if data.get("dropped"):
            self._drop(_read_index(data))
            return
        block = self._block(_read_index(data), data)
        if block.ended:
            return
        whole = _text_of(data.get("block"))
        if len(whole) > block.seen and _compute_checksum(whole[: block.seen]) == block.checksum:
            self._add(block, whole[block.seen :])
        block.ended = True
        self._go_on()

    def break_line(self) -> None:
        """End the line on the screen so that something else can be printed."""
        if self._drawing is not None:
            self._drawing.break_line()

    def finish(self) -> None:
        """End the response, complete or not."""
        for block in self._blocks.values():
            block.ended = True
        self._go_on()
        self._tell_of_drops()

    def _drop(self, index: int) -> None:
        """Forget a block; the next one is drawn when its next event comes, as it may go, too."""
        block = self._blocks.pop(index, None)
        if block is None:
            return
        self._unclosed.pop(index, None)
        if block is self._current:
            self._end_drawing(block)
        self._took_back = self._took_back or block.shown

    def _tell_of_drops(self) -> None:
        if self._took_back:
            self._took_back = False
            self._screen.leave_gap()
            self._screen.write_line(("(the model started its answer again)", "note"))

    def _block(self, index: int, data: Mapping[str, Any]) -> _Block:
        block = self._blocks.get(index)
        if block is None:
            block = _Block(str(data.get("block_type") or ""))
            self._blocks[index] = self._unclosed[index] = block
        if self._current is None and not block.ended:
            self._go_on()
        return block

    def _add(self, block: _Block, text: str) -> None:
        if not text:
            return
        block.seen += len(text)
        block.checksum = _compute_checksum(text, block.checksum)
        if block is self._current:
            self._draw(text)
        else:
            block.waiting.append(text)

    def _open(self, block: _Block) -> None:
        self._tell_of_drops()
        self._current = block
        for text in block.waiting:
            self._draw(text)
        block.waiting.clear()

    def _go_on(self) -> None:
        """Draw the blocks in order, up to the first that has not ended."""
        while True:
            if self._current is None:
                following = next(iter(self._unclosed.values()), None)
                if following is None:
                    return
                self._open(following)
            elif self._current.ended:
                # The first of them is always the one that is drawn.
                _, block = self._unclosed.popitem(last=False)
                self._close(block)
            else:
                return

    def _close(self, block: _Block) -> None:
        """Draw the current block to its end."""
        if self._end_drawing(block) or block.kind in ("text", "thinking", "tool_call", ""):
            return
        is_encrypted = block.kind == "redacted_thinking"
        kind = "encrypted thinking" if is_encrypted else printable_line(block.kind, 80)
        block.shown = True
        self._screen.leave_gap()
        self._screen.write_line((f"({kind})", "note"))

    def _end_drawing(self, block: _Block) -> bool:
        """End the drawing of the current block; whether there was one."""
        self._current = None
        self._feed(block.text.flush())
        drawing, self._drawing = self._drawing, None
        if drawing is not None:
            drawing.finish()
        return drawing is not None

    def _draw(self, text: str) -> None:
        if self._current is None or self._current.kind not in ("text", "thinking"):
            return
        self._current.shown = True
        if self._drawing is None:
            is_thinking = self._current.kind == "thinking"
            renderer = self._renderer
            self._drawing = renderer.thinking("thinking") if is_thinking else renderer.text()
        self._feed(self._current.text.feed(text))

    def _feed(self, shown: str) -> None:
        if self._drawing is not None:
            self._drawing.feed(self._renderer.printable(shown))


def _compute_checksum(text: str, before: int = 0) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"), before)


def _read_index(data: Mapping[str, Any]) -> int:
    index = data.get("block_index")
    return index if isinstance(index, int) else 0


def _text_of(block: object) -> str:
    """The text of a block in any of its dialects."""
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping):
        fields = cast("Mapping[str, object]", block)
        for key in ("text", "thinking"):
            if isinstance(text := fields.get(key), str):
                return text
    return ""
