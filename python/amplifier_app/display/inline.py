"""Spans of Markdown inside a line: strong, emphasis, code, escapes."""

from __future__ import annotations

import re

MAX_SPAN_CHARS = 500
"""A longer span is plain text. This limits how much text is held back."""

_SPECIAL = re.compile(r"[`*\\]")
_SPAN = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\*\*(?=[^\s*])(?P<strong>.+?)(?<=[^\s*])\*\*(?!\*)"
    r"|(?<![\w*])\*(?=[^\s*])(?P<emphasis>[^*]+?)(?<=\S)\*(?![\w*])"
    r"|\\(?P<escaped>[`*_#|\\\[\]])"
)
_RUN = re.compile(r"`+|\*+|\\")


class InlineSpans:
    """Cuts one line into (text, style name) spans while it arrives.

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

    def feed(self, text: str) -> list[tuple[str, str]]:
        """Add text without newlines; returns what is decided by now."""
        self._held += text
        return self._take(complete=False)

    def finish(self) -> list[tuple[str, str]]:
        """The line is complete: returns the rest."""
        return self._take(complete=True)

    def _take(self, *, complete: bool) -> list[tuple[str, str]]:
        spans: list[tuple[str, str]] = []
        line = self._previous + self._held
        start = len(self._previous)
        while start < len(line):
            special = _SPECIAL.search(line, start)
            at = special.start() if special else len(line)
            if at > start:
                spans.append((line[start:at], self._style))
                start = at
                continue
            found = _SPAN.match(line, at, at + MAX_SPAN_CHARS + 1)
            if found and found.end() - at <= MAX_SPAN_CHARS:
                if found.end() == len(line) and not complete:
                    break  # the next character may belong to the closing sign
                spans.append(self._read_span(found))
                start = found.end()
            elif complete or len(line) - at > MAX_SPAN_CHARS:
                run = _RUN.match(line, at)
                start = run.end() if run else at + 1
                spans.append((line[at:start], self._style))
            else:
                break
        self._previous = line[start - 1 : start]
        self._held = line[start:]
        return spans

    def _read_span(self, found: re.Match[str]) -> tuple[str, str]:
        if found["code"] is not None:
            code = found["code"]
            # Code that begins or ends with a backtick has a space at both ends.
            padded = code[0] == code[-1] == " " and code.strip()
            return (code[1:-1] if padded else code), "text.code"
        if found["strong"] is not None:
            return _remove_signs(found["strong"]), "text.strong"
        if found["emphasis"] is not None:
            return _remove_signs(found["emphasis"]), "text.emphasis"
        return found["escaped"], self._style


def _remove_signs(text: str) -> str:
    """Text inside a span, without the signs of the spans inside it."""
    inner = InlineSpans()
    return "".join(piece for piece, _ in [*inner.feed(text), *inner.finish()])
