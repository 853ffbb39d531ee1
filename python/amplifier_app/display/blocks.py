"""The content blocks of one model response, drawn in order and once each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from amplifier_app.display.markdown import MarkdownStream
from amplifier_app.display.panel import StreamingPanel
from amplifier_app.printable import printable_line
from amplifier_guard import TerminalText

if TYPE_CHECKING:
    from amplifier_app.display.screen import Screen


class _Drawing(Protocol):
    """Draws a block while its text arrives."""

    def feed(self, text: str) -> None: ...
    def break_line(self) -> None: ...
    def finish(self) -> None: ...


@dataclass
class _Block:
    kind: str
    seen: str = ""
    waiting: list[str] = field(default_factory=list[str])
    ended: bool = False
    text: TerminalText = field(default_factory=TerminalText)


class ResponseBlocks:
    """Draws the text and thinking blocks of one response.

    A provider may interleave its blocks: one is drawn while it arrives, the others wait. A loop
    may repeat the events of the provider: a block that has ended stays ended.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._blocks: dict[int, _Block] = {}
        self._current: _Block | None = None
        self._drawing: _Drawing | None = None
        self.drew_text = False

    def start(self, data: Mapping[str, Any]) -> bool:
        """Start a block; false if it is known already."""
        index = _index(data)
        if index in self._blocks:
            return False
        self._block(index, data)
        return True

    def delta(self, data: Mapping[str, Any]) -> None:
        """Add text to a block."""
        block = self._block(_index(data), data)
        text = data.get("delta")
        if not block.ended and isinstance(text, str):
            self._add(block, text)

    def end(self, data: Mapping[str, Any]) -> None:
        """End a block; draw what was not streamed."""
        block = self._block(_index(data), data)
        if block.ended:
            return
        whole = _text_of(data.get("block"))
        if whole.startswith(block.seen):
            self._add(block, whole[len(block.seen) :])
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

    def _block(self, index: int, data: Mapping[str, Any]) -> _Block:
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Block(str(data.get("block_type") or ""))
            if self._current is None:
                self._open(block)
        return block

    def _add(self, block: _Block, text: str) -> None:
        if not text:
            return
        block.seen += text
        if block is self._current:
            self._draw(text)
        else:
            block.waiting.append(text)

    def _open(self, block: _Block) -> None:
        self._current = block
        for text in block.waiting:
            self._draw(text)
        block.waiting.clear()

    def _go_on(self) -> None:
        """Close the current block if it has ended, then draw those that waited for it."""
        while self._current is not None and self._current.ended:
            block, self._current = self._current, None
            self._feed(block.text.flush())
            if self._drawing is not None:
                self._drawing.finish()
                self._drawing = None
            elif block.kind == "redacted_thinking":
                self._screen.gap()
                self._screen.line(("(encrypted thinking)", "note"))
            elif block.kind not in ("text", "thinking", "tool_call", ""):
                self._screen.gap()
                self._screen.line((f"({printable_line(block.kind, 80)})", "note"))
            block.kind = ""
            following = [each for each in self._blocks.values() if each.kind]
            if following:
                self._open(following[0])

    def _draw(self, text: str) -> None:
        if self._current is None or self._current.kind not in ("text", "thinking"):
            return
        if self._drawing is None:
            self._screen.gap()
            if self._current.kind == "thinking":
                self._drawing = StreamingPanel(
                    self._screen, "thinking", style="thinking", border="thinking.border"
                )
            else:
                self.drew_text = True
                self._drawing = (
                    MarkdownStream(self._screen)
                    if self._screen.is_terminal
                    else _PlainText(self._screen)
                )
        self._feed(self._current.text.feed(text))

    def _feed(self, shown: str) -> None:
        if self._drawing is not None:
            # The width of a tab depends on the terminal, so wrapping cannot count it.
            tab = "    " if self._screen.is_terminal else "\t"
            self._drawing.feed(shown.replace("\t", tab))


class _PlainText:
    """Text in a pipe, as the model wrote it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def feed(self, text: str) -> None:
        self._screen.write(text)

    def break_line(self) -> None:
        self._screen.end_line()

    def finish(self) -> None:
        self._screen.end_line()


def _index(data: Mapping[str, Any]) -> int:
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
