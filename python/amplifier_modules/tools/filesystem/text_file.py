"""The text of a file, which is changed without a change of its encoding and its line ends."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeAlias

BOM = "\ufeff"
"""The mark that some programs put before UTF-8."""


Part: TypeAlias = tuple[int, int, str]
"""Where a part of a text begins and ends, and what takes its place."""


class NotUtf8Error(ValueError):
    """A file that is not UTF-8, or a text that cannot be."""


class TextFile:
    r"""What a file holds: `text` has no mark of its encoding, and `\n` where it has `\r\n`."""

    def __init__(self, written: str) -> None:
        """Take the text as it is in the file."""
        self._mark = BOM if written.startswith(BOM) else ""
        self._written = written.removeprefix(BOM)
        self.text = normalize_lines(self._written)
        found = enumerate(re.finditer("\r\n", self._written))
        self._wide = [match.start() - number for number, match in found]

    @classmethod
    def decode(cls, path: str, content: bytes) -> TextFile:
        """Return the text of a file.

        Raises:
            NotUtf8Error: It is not UTF-8.
        """
        try:
            return cls(content.decode("utf-8"))
        except UnicodeDecodeError as error:
            byte, place = content[error.start], error.start
            message = f"`{path}` is not UTF-8 (byte 0x{byte:02x} at {place:,})"
            raise NotUtf8Error(message) from None

    @property
    def has_mark(self) -> bool:
        """Whether the mark of UTF-8 is before the text."""
        return bool(self._mark)

    def encode(self) -> bytes:
        """Return what the file holds."""
        return f"{self._mark}{self._written}".encode()

    def replace_text(self, text: str) -> TextFile:
        r"""Return a file with another text, with the mark and the line ends of most of its lines.

        Args:
            text: Taken as it is where this file has no line end.
        """
        lines = self.text.count("\n")
        if lines:
            text = normalize_lines(text)
        if 2 * len(self._wide) > lines:
            text = text.replace("\n", "\r\n")
        return TextFile(self._mark + text.removeprefix(BOM if self._mark else ""))

    def replace(self, places: Sequence[int], old: str, new: str) -> TextFile:
        """Return a file with `new` in the place of `old`; what both begin and end with stays.

        Args:
            places: Where `old` is in the text, in order.
            old: What is there.
            new: What takes its place.
        """
        head = _count_common(old, new)
        rest_old, rest_new = old[head:], new[head:]
        tail = _count_common(rest_old[::-1], rest_new[::-1])
        inserted = rest_new[: len(rest_new) - tail]
        return self.replace_parts(
            [(place + head, place + len(old) - tail, inserted) for place in places]
        )

    def replace_parts(self, parts: Sequence[Part]) -> TextFile:
        """Return a file with other texts in the place of some parts.

        Args:
            parts: In the order of the text; none begins before the one before it ends.
        """
        pieces: list[str] = []
        done = 0
        for start, end, text in parts:
            pieces.append(self._written[self._find_offset(done) : self._find_offset(start)])
            pieces.append(self._end_lines(text, start, end))
            done = end
        pieces.append(self._written[self._find_offset(done) :])
        return TextFile(self._mark + "".join(pieces))

    def _find_offset(self, place: int) -> int:
        """Return where a place of the text is in what is written."""
        return place + bisect_left(self._wide, place)

    def _end_lines(self, text: str, start: int, end: int) -> str:
        """Return a text for a part of this one, each line ended as the one that gives way."""
        lines = text.split("\n")
        if len(lines) == 1:
            return text
        given = [place for place in range(start, end) if self.text[place] == "\n"]
        if not given:
            following = self.text.find("\n", end)
            given = [following if following >= 0 else self.text.rfind("\n", 0, start)]
        ends = [self._find_line_end(place) for place in given]
        ends += ends[-1:] * (len(lines) - 1 - len(ends))
        return "".join(
            part for pair in zip(lines, [*ends[: len(lines) - 1], ""], strict=True) for part in pair
        )

    def _find_line_end(self, place: int) -> str:
        index = bisect_left(self._wide, place)
        return "\r\n" if self._wide[index : index + 1] == [place] else "\n"


def _count_common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    for number, (first, second) in enumerate(zip(one, other, strict=False)):
        if first != second:
            return number
    return min(len(one), len(other))


def normalize_lines(text: str) -> str:
    r"""Return a text with `\n` where it has `\r\n`."""
    return text.replace("\r\n", "\n")


def check_writable(name: str, text: str) -> None:
    """Check that a text that a model wrote can be in a file.

    Raises:
        NotUtf8Error: It has half of a surrogate pair, or a NUL, which makes a file binary.
    """
    match = re.search("[\0\ud800-\udfff]", text)
    if match:
        message = f"`{name}` has U+{ord(match[0]):04X} at character {match.start():,}, which no text file may have"
        raise NotUtf8Error(message)
