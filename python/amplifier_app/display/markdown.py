"""Markdown drawn while it arrives: append-only, nothing redrawn, nothing cut."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amplifier_app.display.code_block import QUOTE, CodeBlock
from amplifier_app.display.inline import InlineSpans, read_spans
from amplifier_app.display.tables import draw_table, is_row
from amplifier_app.display.wrapping import Wrapper

if TYPE_CHECKING:
    from amplifier_app.display.screen import Screen

_FENCE = re.compile(
    r"(?P<before>\s{0,12}(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<label>.*)"
)
_BLOCK = re.compile(
    r" {0,3}#{1,6}\s+(?=\S)(?P<heading>)| {0,3}>\s?(?P<quote>)"
    r"|(?P<indent>\s{0,99})(?P<item>[-*+]|\d{1,9}[.)])\s+(?=\S)"
)
_RULE = re.compile(r" {0,3}([-*_])(?:\s*\1){2,}\s*$")
# A beginning that may become one of the above when more of the line arrives.
_UNDECIDED = re.compile(
    r"(?: {0,3}>\s?)?\s*(?:(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:`{0,2}|~{0,2})|#{1,6}\s*"
    r"|[-*+]\s*|\d{1,9}[.)]?\s*|(?:\*\s*){2,}|(?:-\s*){2,}|(?:_\s*)+)$"
)
_WHOLE_LINE = re.compile(
    r"\s{0,12}\||(?: {0,3}>\s?)?\s{0,12}(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:`{3}|~{3})"
)
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
        self._quote_mark = f"{screen.glyphs.quote} "
        self._held = ""
        self._inline: InlineSpans | None = None
        self._code: CodeBlock | None = None
        self._table: list[str] = []
        self._blank = True
        self._is_broken = False
        """Whether the line on the screen was ended before its text."""

    def feed(self, text: str) -> None:
        """Draw what the text completes; it must be printable already."""
        self._wrapper.measure_width()
        *lines, rest = text.split("\n")
        for line in lines:
            if self._inline or self._code:
                if line:
                    self._feed_line(line)
            else:
                self._held += line
            self._end_line()
        if rest:
            self._feed_line(rest)
        self._wrapper.send()

    def finish(self) -> None:
        """Draw the rest and end the line."""
        if self._is_broken and self._inline and not self._inline.holds:
            self._inline = None  # all of the line is on the screen, and it has ended
        if self._held or self._inline or (self._code and self._code.is_within_line):
            self._end_line()
        self._draw_table()
        self._wrapper.send()

    def break_line(self) -> None:
        """End the line on the screen so that something else can be printed."""
        self._wrapper.break_line()
        self._screen.end_line()
        self._is_broken = True
        if self._code:
            self._code.break_line()

    def _feed_line(self, part: str) -> None:
        self._is_broken = False
        if self._inline:
            self._wrapper.add(self._inline.feed(part))
            return
        if self._code:
            if self._code.feed(part):
                return
            part, self._code = self._code.held, None
        self._held += part
        if not self._needs_more():
            self._begin_line()

    def _needs_more(self) -> bool:
        held = self._held
        if held[0].isalpha():
            return False
        if held[0] == "|":
            return len(held) <= _MAX_ROW_CHARS
        if len(held) > _MAX_MARK_CHARS:
            return len(held) <= _MAX_ROW_CHARS and bool(_WHOLE_LINE.match(held))
        return bool(_UNDECIDED.match(held) or _WHOLE_LINE.match(held))

    def _begin_line(self) -> None:
        """Decide the kind of the held line, and draw its beginning."""
        mark, hang, style, line = self._read_line()
        self._inline = InlineSpans(style)
        spans = self._inline.feed(line)
        self._wrapper.hang(hang)
        self._wrapper.add([(mark, "text.mark"), *spans] if mark else spans)

    def _draw_line(self) -> None:
        """Draw the held line, which is whole."""
        mark, hang, style, line = self._read_line()
        spans = read_spans(line, style)
        self._wrapper.add_line([(mark, "text.mark"), *spans] if mark else spans, hang)

    def _read_line(self) -> tuple[str, str, str, str]:
        """Return what begins the held line and the rows after its first, its style and its text."""
        line, self._held = self._held, ""
        self._draw_table()
        if line[0].isalpha() or (found := _BLOCK.match(line)) is None:
            return "", "", "", line
        line = line[found.end() :]
        match found.lastgroup:
            case "heading":
                return "", "", "text.heading", line
            case "quote":
                return self._quote_mark, self._quote_mark, "text.quote", line
            case _:
                sign = found["item"]
                sign = self._screen.glyphs.bullet if sign in "-*+" else sign
                mark = f"{found['indent']}{sign} "
                return mark, " " * len(mark), "", line

    def _end_line(self) -> None:
        if self._code:
            if self._code.end_line():
                return
            code, self._code = self._code, None
            self._held = code.held
            self._blank = False
            if code.is_closed:
                return
        if self._inline is not None:
            if spans := self._inline.finish():
                self._wrapper.add(spans)
            self._inline = None
            self._wrapper.end_line()
        elif (not self._held or self._needs_more()) and self._take_whole_line():
            return
        else:
            self._draw_line()
        self._blank = False

    def _take_whole_line(self) -> bool:
        """Draw the held line if only the whole line decides its kind."""
        line = self._held
        if not line.strip():
            if self._table:
                self._draw_table()
            self._held = ""
            if not self._blank:
                self._wrapper.add_as_it_is("\n", "")
            self._blank = True
            return True
        if is_row(line) and len(self._table) < _MAX_TABLE_ROWS:
            self._table.append(line)
            self._held = ""
            return True
        quote = QUOTE.match(line)
        if found := _FENCE.match(line, quote.end() if quote else 0):
            self._draw_table()
            mark = self._quote_mark if quote else ""
            self._code = CodeBlock(self._wrapper, found["fence"], mark)
            label = f"{found['before']}{found['label'].strip()}"
            self._take(f"{mark}{label}" if label.strip() else "", "text.mark")
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
