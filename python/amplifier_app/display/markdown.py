"""Markdown drawn while it arrives: append-only, nothing redrawn, nothing cut."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amplifier_app.display.inline import InlineSpans
from amplifier_app.display.tables import draw_table, is_row
from amplifier_app.display.wrapping import Wrapper

if TYPE_CHECKING:
    from amplifier_app.display.screen import Screen

_FENCE = re.compile(
    r"(?P<before>\s{0,12}(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<label>.*)"
)
_HEADING = re.compile(r" {0,3}#{1,6}\s+(?=\S)")
_ITEM = re.compile(r"(?P<indent>\s{0,99})(?P<mark>[-*+]|\d{1,9}[.)])\s+(?=\S)")
_QUOTE = re.compile(r" {0,3}>\s?")
_RULE = re.compile(r" {0,3}([-*_])(?:\s*\1){2,}\s*$")
# A beginning that may become one of the above when more of the line arrives.
_UNDECIDED = re.compile(
    r"\s*(?:(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:`{0,2}|~{0,2})|#{1,6}\s*|>|[-*+]\s*|\d{1,9}[.)]?\s*"
    r"|(?:\*\s*){2,}|(?:-\s*){2,}|(?:_\s*)+)$"
)
_WHOLE_LINE = re.compile(r"\s{0,12}(?:\||(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:`{3}|~{3}))")
_CODE_INDENT = "  "
_MAX_TABLE_ROWS = 500
_MAX_ROW_CHARS = 4000
"""A longer line is neither a row of a table nor the edge of code."""
_MAX_MARK_CHARS = 200
"""A longer beginning of a line is drawn as plain text."""


class MarkdownStream:
    """Draws Markdown on a screen, word by word; tables when they are complete."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._wrapper = Wrapper(screen.write_spans, screen.find_text_width)
        self._held = ""
        self._inline: InlineSpans | None = None
        self._in_code_line = False
        self._has_code = False
        """Whether code of the line is on the present row."""
        self._fence = ""
        self._table: list[str] = []
        self._blank = True
        self._is_broken = False
        """Whether the line on the screen was ended before its text."""

    def feed(self, text: str) -> None:
        """Draw what the text completes; it must be printable already."""
        self._wrapper.measure()
        first, *others = text.split("\n")
        if first:
            self._feed_line(first)
        for part in others:
            self._end_line()
            if part:
                self._feed_line(part)
        self._wrapper.send()

    def finish(self) -> None:
        """Draw the rest and end the line."""
        if self._is_broken and self._inline and not self._inline.holds:
            self._inline = None  # all of the line is on the screen, and it has ended
        if self._held or self._inline or self._in_code_line:
            self._end_line()
        self._draw_table()
        self._wrapper.send()

    def break_line(self) -> None:
        """End the line on the screen so that something else can be printed."""
        self._wrapper.break_line()
        self._screen.end_line()
        self._is_broken = True
        self._has_code = False

    def _feed_line(self, part: str) -> None:
        self._is_broken = False
        if self._inline:
            self._wrapper.add(self._inline.feed(part))
        elif self._in_code_line:
            self._write_code(part)
        else:
            self._held += part
            if not self._needs_more():
                self._begin_line()

    def _needs_more(self) -> bool:
        held = self._held
        if self._fence:
            held = held.lstrip(" ")
            return held[: len(self._fence)] == self._fence[: len(held)]
        if held[0].isalpha():
            return False
        if len(held) > _MAX_MARK_CHARS:
            return len(held) <= _MAX_ROW_CHARS and bool(_WHOLE_LINE.match(held))
        return bool(_UNDECIDED.match(held) or _WHOLE_LINE.match(held))

    def _begin_line(self) -> None:
        """Decide the kind of the held line, and draw its beginning."""
        line, self._held = self._held, ""
        if self._fence:
            self._in_code_line = True
            self._write_code(line)
            return
        self._draw_table()
        style = mark = ""
        if line[0].isalpha():
            pass
        elif found := _HEADING.match(line):
            style = "text.heading"
            line = line[found.end() :]
        elif found := _QUOTE.match(line):
            mark = self._screen.glyphs.quote + " "
            self._wrapper.hang(mark)
            style = "text.quote"
            line = line[found.end() :]
        elif found := _ITEM.match(line):
            sign = self._screen.glyphs.bullet if found["mark"] in "-*+" else found["mark"]
            mark = f"{found['indent']}{sign} "
            self._wrapper.hang(" " * len(mark))
            line = line[found.end() :]
        self._inline = InlineSpans(style)
        spans = self._inline.feed(line)
        self._wrapper.add([(mark, "text.mark"), *spans] if mark else spans)

    def _end_line(self) -> None:
        if self._in_code_line:
            self._end_code_line()
            return
        if self._inline is None and self._take_whole_line():
            return
        if self._inline is None:
            self._begin_line()
        if self._in_code_line:
            self._end_code_line()
            return
        if self._inline is not None:
            if spans := self._inline.finish():
                self._wrapper.add(spans)
            self._inline = None
        self._wrapper.end_line()
        self._blank = False

    def _take_whole_line(self) -> bool:
        """Draw the held line if only the whole line decides its kind."""
        line = self._held
        if self._fence:
            mark = line.strip()
            if len(mark) >= len(self._fence) and not mark.strip(self._fence[0]):
                self._fence = ""
                self._held = ""
                self._blank = False
                return True
            return False
        if is_row(line) and len(self._table) < _MAX_TABLE_ROWS:
            self._table.append(line)
            self._held = ""
            return True
        if not line.strip():
            self._draw_table()
            self._held = ""
            if not self._blank:
                self._wrapper.add_as_it_is("\n", "")
            self._blank = True
            return True
        if found := _FENCE.match(line):
            self._draw_table()
            self._fence = found["fence"]
            label = f"{found['before']}{found['label'].strip()}"
            self._take(label if label.strip() else "", "text.mark")
            return True
        if len(line) <= _MAX_MARK_CHARS and _RULE.match(line):
            self._draw_table()
            self._take(self._screen.glyphs.across, "text.mark")
            return True
        return False

    def _take(self, line: str, style: str) -> None:
        self._held = ""
        if line:
            self._wrapper.add([(line, style)])
            self._wrapper.end_line()
        self._blank = False

    def _write_code(self, text: str) -> None:
        """Write code as it is: a long line is wrapped by the terminal, and copied as one."""
        if text and not self._has_code:
            text = _CODE_INDENT + text
            self._has_code = True
        if text:
            self._wrapper.add_as_it_is(text, "text.code")

    def _end_code_line(self) -> None:
        if self._has_code or not self._is_broken:
            self._wrapper.add_as_it_is("\n", "")
        self._in_code_line = self._has_code = self._is_broken = False

    def _draw_table(self) -> None:
        if not self._table:
            return
        lines, self._table = self._table, []
        # Plain mode has no tables at all.
        is_plain, across = self._screen.is_plain, self._screen.glyphs.across[0]
        width = self._screen.find_text_width()
        table = [] if is_plain else draw_table(lines, width, across)
        for text, style in table:
            self._wrapper.add_as_it_is(text, style)
        for line in [] if table else lines:
            self._wrapper.add([(line, "")])
            self._wrapper.end_line()
        self._blank = False
