"""Code between fences of Markdown, drawn while it arrives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_app.display.wrapping import Wrapper

QUOTE = re.compile(r" {0,3}>\s?")
_INDENT = "  "


class CodeBlock:
    """Draws code as it is: a long line is wrapped by the terminal, and copied as one.

    Args:
        wrapper: What it writes through.
        fence: The sign that begins it; one as long or longer ends it.
        mark: Is drawn before each line if the code is in a quote; it ends with the quote, too.
    """

    def __init__(self, wrapper: Wrapper, fence: str, mark: str = "") -> None:
        self._wrapper = wrapper
        self._fence = fence
        self._mark = mark
        self.held = ""
        """The beginning of a line that may be none of the code."""
        self.is_closed = False
        """Whether the fence that ends it has come."""
        self._in_line = False
        self._has_text = False
        """Whether code of the line is on the present row."""
        self._is_broken = False
        """Whether the row was ended before its line."""

    @property
    def is_within_line(self) -> bool:
        """Whether a line has begun."""
        return self._in_line or bool(self.held)

    def feed(self, part: str) -> bool:
        """Add a part of a line; false if what is held is behind the quote, and so no code."""
        self._is_broken = False
        if self._in_line:
            self._write(part)
            return True
        line = self.held = self.held + part
        if self._mark:
            found = QUOTE.match(line)
            if found is None:
                return len(line) <= 3 and not line.strip(" ")
            if found.end() == len(line):
                return True  # a blank after the sign belongs to it
            line = line[found.end() :]
        start = line.lstrip(" ")
        if start[: len(self._fence)] != self._fence[: len(start)]:
            self._begin_line(line)
        return True

    def end_line(self) -> bool:
        """End a line; false if the code has ended, with what is held or before it."""
        if not self._in_line:
            line = self.held
            if self._mark:
                found = QUOTE.match(line)
                if found is None:
                    return False
                line = line[found.end() :]
            mark = line.strip()
            if len(mark) >= len(self._fence) and not mark.strip(self._fence[0]):
                self.held = ""
                self.is_closed = True
                return False
            self._begin_line(line)
        if self._has_text or not self._is_broken:
            self._wrapper.add_as_it_is("\n", "")
        self._in_line = self._has_text = self._is_broken = False
        return True

    def break_line(self) -> None:
        """Take note that the row was ended; the line goes on in the next one."""
        self._is_broken = self._in_line
        self._has_text = False

    def _begin_line(self, text: str) -> None:
        self.held = ""
        self._in_line = True
        self._write(text)

    def _write(self, text: str) -> None:
        if not self._has_text:
            if self._mark:
                self._wrapper.add_as_it_is(self._mark, "text.mark")
                self._has_text = True
            if text:
                text = _INDENT + text
                self._has_text = True
        if text:
            self._wrapper.add_as_it_is(text, "text.code")
