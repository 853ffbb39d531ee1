"""The title and the first sentences of a README."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAX_SENTENCES = 3
_MAX_CHARS = 500
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"<[^>\n]+>")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_UNDERLINE = re.compile(r"([=\-~^#*])\1{2,}\s*")
_NOT_PROSE = re.compile(r"\s*(?:[#>|]|[-*+] |\d+[.)] |\.\. |:\w+:|=+$)")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+(?=[A-Z\W])")


@dataclass(frozen=True)
class Readme:
    """The beginning of a README; a part that is missing is empty."""

    title: str
    opening: str
    """Its first sentences, on one line."""


def read_readme(content: str) -> Readme:
    """Find the title and the first paragraph of prose in a Markdown, RST or plain README."""
    plain = content.removeprefix("\ufeff").replace("\r\n", "\n")
    for pattern in (_FRONT_MATTER, _COMMENT, _FENCE):
        plain = pattern.sub("", plain)
    lines = [_without_markup(line) for line in plain.split("\n")]
    title, start = _title(lines)
    return Readme(title, _first_sentences(_first_paragraph(lines[start:])))


def _without_markup(line: str) -> str:
    line = _IMAGE.sub("", _TAG.sub("", line))
    while _LINK.search(line):  # a badge is an image inside a link
        line = _LINK.sub(r"\1", line)
    return line.rstrip()


def _title(lines: list[str]) -> tuple[str, int]:
    """Return the title and the number of the line after it."""
    for index, line in enumerate(lines):
        if heading := re.match(r"#{1,6}\s+(.+?)\s*#*$", line):
            return heading[1], index + 1
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if line.strip() and _UNDERLINE.fullmatch(below):
            return line.strip(), index + 2
        if line.strip() and not _NOT_PROSE.match(line) and not _UNDERLINE.fullmatch(line):
            # Prose before any heading: a first line on its own is the title of a plain text.
            return ("", index) if below.strip() else (line.strip(), index + 1)
    return "", 0


def _first_paragraph(lines: list[str]) -> str:
    paragraph: list[str] = []
    for index, line in enumerate(lines):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        is_prose = bool(line.strip()) and not _NOT_PROSE.match(line)
        if is_prose and not _UNDERLINE.fullmatch(line) and not _UNDERLINE.fullmatch(below or " "):
            paragraph.append(line.strip())
        elif paragraph:
            break
    return " ".join(" ".join(paragraph).split())


def _first_sentences(paragraph: str) -> str:
    opening = " ".join(_SENTENCE_END.split(paragraph)[:_MAX_SENTENCES])
    return opening if len(opening) <= _MAX_CHARS else opening[:_MAX_CHARS].rsplit(" ", 1)[0] + " …"
