"""Spans of Markdown inside a line: strong, emphasis, code, escapes."""

from __future__ import annotations

import re
from typing import TypeAlias

Span: TypeAlias = tuple[str, str]
"""A text and the name of its style."""

MAX_SPAN_CHARS = 500
"""A longer span is plain text. This limits how much text is held back."""

_SPECIAL = re.compile(r"[`*\\]")
_LONGEST = MAX_SPAN_CHARS
# Plain text with what follows it, in one match: there are as many of them as there are spans.
# The bounds keep the search for an end that never comes short.
_NEXT = re.compile(
    r"(?P<plain>[^`*\\]*+)(?:"
    rf"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.{{1,{_LONGEST}}}?)(?<!`)(?P=ticks)(?!`)"
    rf"|\*\*(?=[^\s*])(?P<strong>.{{1,{_LONGEST}}}?)(?<=[^\s*])\*\*(?!\*)"
    rf"|(?<![\w*])\*(?=[^\s*])(?P<emphasis>[^*]{{1,{_LONGEST}}}?)(?<=\S)\*(?![\w*])"
    r"|\\(?P<escaped>[`*_#|\\\[\]])"
    r")?"
)
_RUN = re.compile(r"`+|\*+|\\")


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
        spans: list[Span] = []
        line = self._previous + self._held
        start, end = len(self._previous), len(line)
        style = self._style
        while start < end:
            found = _NEXT.match(line, start)
            assert found is not None  # it may be empty
            kind = found.lastindex or 1
            plain, text = found.group(1, kind)
            if plain:
                spans.append((plain, style))
                start += len(plain)
            stop = found.end()
            if kind > 1 and stop - start <= MAX_SPAN_CHARS:
                if stop == end and not complete:
                    break  # the next character may belong to the closing sign
                spans.append(_read_span(found.lastgroup, text, style))
                start = stop
            elif start < end and (complete or end - start > MAX_SPAN_CHARS):
                run = _RUN.match(line, start)
                stop = run.end() if run else start + 1
                spans.append((line[start:stop], style))
                start = stop
            else:
                break
        self._previous = line[start - 1 : start]
        self._held = line[start:]
        return spans


def _read_span(kind: str | None, text: str, style: str) -> Span:
    if kind == "code":
        # Code that begins or ends with a backtick has a space at both ends.
        padded = text[0] == text[-1] == " " and text.strip()
        return (text[1:-1] if padded else text), "text.code"
    if kind == "escaped":
        return text, style
    return _remove_signs(text), "text.strong" if kind == "strong" else "text.emphasis"


def _remove_signs(text: str) -> str:
    """Text inside a span, without the signs of the spans inside it."""
    if not _SPECIAL.search(text):
        return text
    inner = InlineSpans()
    return "".join(piece for piece, _ in [*inner.feed(text), *inner.finish()])
