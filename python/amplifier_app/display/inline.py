"""Spans of Markdown inside a line: strong, emphasis, code, escapes."""

from __future__ import annotations

import re
from typing import TypeAlias

Span: TypeAlias = tuple[str, str]
"""A text and the name of its style."""

MAX_SPAN_CHARS = 500
"""A longer span is plain text. This limits how much text is held back."""

_SPECIAL = re.compile(r"[`*\\]")
# Plain text with what follows it, in one match: there are as many of them as there are spans.
# The bounds keep each span, signs included, within `MAX_SPAN_CHARS`.
_NEXT = re.compile(
    r"([^`*\\]*+)(?:"
    r"(?<!`)(?P<ticks>`{1,20})(?!`)(?P<code>.{1,460}?)(?<!`)(?P=ticks)(?!`)"
    r"|\*\*(?=[^\s*])(?P<strong>.{1,496}?)(?<=[^\s*])\*\*(?!\*)"
    r"|(?<![\w*])\*(?=[^\s*])(?P<emphasis>[^*]{1,498}?)(?<=\S)\*(?![\w*])"
    r"|\\(?P<escaped>[`*_#|\\\[\]])"
    r"|(?P<signs>`+|\*+|\\)"
    r")?"
)


class InlineSpans:
    """Cuts one line into spans while it arrives.

    Cutting the line differently yields the same spans.
    """

    def __init__(self, style: str = "") -> None:
        self._style = style
        self._previous = ""
        self._held = ""

    @property
    def holds(self) -> bool:
        """Whether text of the line is not decided yet."""
        return bool(self._held)

    def feed(self, text: str) -> list[Span]:
        """Add text without newlines; returns what is decided by now."""
        if not self._held and text and not _SPECIAL.search(text):
            self._previous = text[-1]
            return [(text, self._style)]
        self._held += text
        return self._take(complete=False)

    def finish(self) -> list[Span]:
        """The line is complete: returns the rest."""
        return self._take(complete=True) if self._held else []

    def _take(self, *, complete: bool) -> list[Span]:
        line = self._previous + self._held
        spans, end = _read_spans(line, len(self._previous), self._style, complete=complete)
        self._previous = line[end - 1 : end]
        self._held = line[end:]
        return spans


def read_spans(line: str, style: str = "") -> list[Span]:
    """Return the spans of a whole line."""
    if not _SPECIAL.search(line):
        return [(line, style)] if line else []
    return _read_spans(line, 0, style, complete=True)[0]


def _read_spans(line: str, start: int, style: str, *, complete: bool) -> tuple[list[Span], int]:
    """Return the spans that are decided, and where they end."""
    spans: list[Span] = []
    end = len(line)
    while start < end:
        found = _NEXT.match(line, start)
        assert found is not None  # it may be empty
        kind = found.lastgroup
        plain, text = found.group(1, found.lastindex or 1)
        if plain:
            spans.append((plain, style))
            start += len(plain)
        stop = found.end()
        if kind is None:
            break
        # What stands alone may begin a span, the next character belong to its last sign.
        if not complete and (end - start <= MAX_SPAN_CHARS if kind == "signs" else stop == end):
            break
        start = stop
        if kind == "code":
            # Code that begins or ends with a backtick has a space at both ends.
            is_padded = text[0] == text[-1] == " " and text.strip()
            spans.append((text[1:-1] if is_padded else text, "text.code"))
        elif kind == "strong" or kind == "emphasis":
            if _SPECIAL.search(text):
                text = "".join([inner for inner, _ in read_spans(text)])
            spans.append((text, "text.strong" if kind == "strong" else "text.emphasis"))
        else:
            spans.append((text, style))
    return spans, start
