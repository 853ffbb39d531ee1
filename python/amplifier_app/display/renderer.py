"""Content blocks in a terminal or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

from rich.cells import cell_len

from amplifier_app.display.call_view import view_call
from amplifier_app.display.markdown import MarkdownStream
from amplifier_app.display.panel import StreamingPanel
from amplifier_app.display.result_view import ResultView, view_result
from amplifier_app.display.screen import ConsoleScreen, Screen
from amplifier_app.display.wrapping import Wrapper
from amplifier_app.known_secrets import SECRETS
from amplifier_guard import TerminalText

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

    from amplifier_core.content_models import (
        TextContent,
        ThinkingContent,
        ToolCallContent,
        ToolResultContent,
    )

_MAX_NAME_CHARS = 80
_MIN_SHOWN_SECONDS = 1.0
"""The time of a faster tool is not shown."""
_INDENT = "    "
"""Before the lines of a call or a result."""


class Drawing(Protocol):
    """Draws a block while its text arrives; the text must be printable already."""

    def feed(self, text: str) -> None:
        """Draw what the text completes."""
        ...

    def break_line(self) -> None:
        """End the line so that something else can be printed."""
        ...

    def finish(self) -> None:
        """Draw the rest."""
        ...


class ContentBlockRenderer:
    """Draws thinking, text, tool calls and their results, with a blank line between their kinds.

    Thinking and text are drawn whole. On a terminal the text is drawn as Markdown, elsewhere as the
    model wrote it. The markup of `rich` in it means nothing, secrets are removed, and nothing can
    control the terminal. The display of the command draws with it, too.

    Args:
        console: Where it draws; standard output if None.
        screen: The screen to draw on instead; a display has one.
    """

    def __init__(self, console: Console | None = None, *, screen: Screen | None = None) -> None:
        if screen is None:
            screen = Screen(sys.stdout) if console is None else ConsoleScreen(console)
        self._screen = screen
        self._section = ""
        self._names: dict[str, str] = {}
        self._contents: dict[str, str] = {}
        """What calls write, until their results."""

    def render_thinking(self, block: ThinkingContent) -> None:
        """Draw a panel with all of the model's thinking."""
        title = "🤔 Thinking" if self._screen.glyphs.is_unicode else "Thinking"
        self._draw(self.thinking(title), block.text)

    def render_text(self, block: TextContent) -> None:
        """Draw text of the answer."""
        self._draw(self.text(), block.text)

    def render_tool_call(self, block: ToolCallContent) -> None:
        """Draw a call: a command, the files that are written, or the beginning of its arguments."""
        name = self.shown_name(block.name)
        self._names[block.id] = name
        sign = "🔧 " if self._screen.glyphs.is_unicode else ""
        arguments: Mapping[str, object] = SECRETS.redact_data(block.arguments or {})
        if isinstance(content := arguments.get("content"), str):
            self._contents[block.id] = content
        self.draw_call(f"{sign}Calling ", name, arguments)

    def render_tool_result(self, block: ToolResultContent) -> None:
        """Draw the result of a call: a change, an output, how much came back, or the error."""
        name = self._names.get(block.tool_call_id) or "tool"
        result = {"success": not block.error, "output": block.output, "error": block.error}
        content = self._contents.pop(block.tool_call_id, "")
        self.draw_result(name, view_result(SECRETS.redact_data(result), lambda _: "", content))

    def thinking(self, title: str) -> Drawing:
        """Begin a panel of thinking."""
        self._screen.leave_gap()
        self.new_section()
        return StreamingPanel(self._screen, title, style="thinking", border="thinking.border")

    def text(self) -> Drawing:
        """Begin a text."""
        self._screen.leave_gap()
        self.new_section()
        is_terminal = self._screen.is_terminal
        return MarkdownStream(self._screen) if is_terminal else _PlainText(self._screen)

    def draw_call(self, sign: str, name: str, arguments: object, indent: str = "") -> None:
        """Draw a call; what is before its arguments must be printable already."""
        view = view_call(name, arguments)
        text, style = view.head
        self._begin_section("tools")
        self._wrap_line((f"{indent}{sign}{name}", "tool"), (self.printable(text), style))
        self._draw_lines(view.lines, indent + _INDENT)

    def draw_result(self, name: str, view: ResultView, seconds: float = 0.0) -> None:
        """Draw a result; the name must be printable already."""
        glyphs, good, summary = self._screen.glyphs, view.is_good, view.summary
        if view.has_seconds:
            seconds = 0.0
        self._begin_section("tools")
        self._wrap_line(
            (f"  {glyphs.good if good else glyphs.bad} ", "tool.good" if good else "tool.bad"),
            (name, ""),
            (f": {summary}" if summary else "", "" if good else "error"),
            (f" ({seconds:.1f} s)" if seconds >= _MIN_SHOWN_SECONDS else "", "note"),
        )
        self._draw_lines(view.lines, _INDENT)

    def _draw_lines(self, lines: Iterable[tuple[str, str]], indent: str) -> None:
        """Draw the lines of a call or a result."""
        for text, style in lines:
            if text.strip():
                self._wrap_line((indent, ""), (self.printable(text), style), hang=f"{indent}  ")
            else:
                self._screen.write_line()
        self._screen.flush()

    def task_line(self, text: str, style: str = "note") -> None:
        """Draw a line about a sub-agent; it must be printable already."""
        self._begin_section("tools")
        self._wrap_line((text, style))

    def new_section(self) -> None:
        """Leave a blank line before what comes next."""
        self._section = "block"

    def note(self, text: str, style: str) -> None:
        """Draw a line that is no block; it must be printable already."""
        self._begin_section("note")
        self._wrap_line((text, style))

    def note_parts(self, parts: Iterable[str]) -> None:
        """Draw a line that ends, where it is too long, between two of its parts."""
        dot = f" {self._screen.glyphs.dot} "
        line = ""
        for part in parts:
            longer = f"{line}{dot}{part}" if line else part
            if line and cell_len(longer) > self._screen.find_text_width():
                self.note(line, "note")
                line = f"{_INDENT}{part}"
            else:
                line = longer
        self.note(line, "note")

    @staticmethod
    def shown_name(name: str) -> str:
        """The name of a tool, safe to show."""
        return SECRETS.write_line(name or "tool", _MAX_NAME_CHARS)

    def printable(self, shown: str) -> str:
        """Text that passed `TerminalText`, as this screen can draw it."""
        # The width of a tab depends on the terminal, so wrapping cannot count it.
        return shown.replace("\t", "    ") if self._screen.is_terminal else shown

    def _draw(self, drawing: Drawing, text: str) -> None:
        drawing.feed(self.printable(TerminalText.show(SECRETS.redact(text))))
        drawing.finish()
        self._screen.flush()

    def _begin_section(self, section: str) -> None:
        """Leave a blank line between things of different kinds."""
        if section == self._section:
            self._screen.end_line()
        else:
            self._screen.leave_gap()
        self._section = section

    def _wrap_line(self, *pieces: tuple[str, str], hang: str = _INDENT) -> None:
        """One line of styled pieces, wrapped under itself on a terminal."""
        wrapper = Wrapper(self._screen.write_spans, self._screen.find_text_width)
        wrapper.hang(hang)
        for text, style in pieces:
            wrapper.feed(text, style)
        wrapper.finish()
        self._screen.flush()


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
