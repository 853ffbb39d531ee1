"""Word wrapping of text that arrives in pieces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len, get_character_cell_size

if TYPE_CHECKING:
    from collections.abc import Callable

_SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_TOKEN = re.compile(r"\n|[^\S\n]+|[^\s]+")


class Wrapper:
    """Writes styled text in lines of at most `width` cells, and never writes twice.

    A word is held until its end is known; everything before it is on the screen already.

    Args:
        write: Takes (text, style name) pieces in the order of the screen.
        find_width: Returns the cells that a line may have now, prefix included.
        prefix: Begins each line, as (text, style name).
    """

    def __init__(
        self,
        write: Callable[[str, str], None],
        find_width: Callable[[], int],
        *,
        prefix: tuple[str, str] = ("", ""),
    ) -> None:
        self._write = write
        self._find_width = find_width
        self._width = find_width()
        self._prefix = prefix
        self._hang = ""
        self._column = 0
        self._open = False
        self._space: list[tuple[str, str]] = []
        self._is_long = False
        self._is_broken = False
        self._word: list[tuple[str, str]] = []
        self._word_cells = 0
        self._ready: list[str] = []
        self._ready_style = ""

    def feed(self, text: str, style: str) -> None:
        """Add text; newlines end lines."""
        self._width = self._find_width()
        for token in _TOKEN.findall(text):
            if token == "\n":
                self._place_word()
                self._end_line()
                self._hang = ""
            elif token.isspace():
                self._place_word()
                if not self._is_broken:
                    self._space.append((token, style))
                self._is_long = False
            else:
                self._add_to_word(token, style)
        self._send()

    def hang(self, text: str) -> None:
        """Begin the lines after this one with `text` until the next newline."""
        self._hang = text

    def break_line(self) -> None:
        """End the line so that something else can be printed; the text continues in the next one."""
        self._place_word()
        if self._open:
            self._end_line()
            self._is_broken = True
        self._send()

    def finish(self) -> None:
        """Put the held word on the screen and end the line if it has anything."""
        self._place_word()
        if self._open:
            self._end_line()
        self._hang = ""
        self._send()

    def _add_to_word(self, token: str, style: str) -> None:
        if token.isascii() and self._word_cells + len(token) < self._width:
            self._word.append((token, style))
            self._word_cells += len(token)
            return
        for piece in _split_word(token, self._width):
            cells = _count_cells(piece)
            if get_character_cell_size(piece[0]) == 2 and not self._is_joined(piece):
                # Scripts of wide characters have no spaces: a line may end before any of them.
                self._place_word()
            self._word.append((piece, style))
            self._word_cells += cells
            if self._word_cells >= self._width:
                self._is_long = True
                self._place_word()

    def _is_joined(self, piece: str) -> bool:
        """Whether a sign belongs to the one before it."""
        before = self._word[-1][0] if self._word else ""
        is_flag = piece in _FLAG_LETTERS and before in _FLAG_LETTERS and before != ""
        return is_flag or before.endswith("\u200d") or piece[0] in _SKIN_TONES

    def _place_word(self) -> None:
        if not self._word:
            return
        space, self._space = self._space, []
        cells = sum(_count_cells(text) for text, _ in space)
        fits = self._column + cells + self._word_cells <= self._width
        # A word that the next line cannot hold fills the rest of this one.
        room = self._width - _count_cells(self._prefix[0]) - _count_cells(self._hang)
        if not self._open or fits or self._is_long or self._word_cells > room:
            self._begin_line("")
            for text, style in space:
                self._put(text, style)
        else:
            self._end_line()
            self._begin_line(self._hang)
        word, self._word, self._word_cells = self._word, [], 0
        for text, style in word:
            self._put_broken(text, style)

    def _put_broken(self, text: str, style: str) -> None:
        """Write a piece of a word, over several lines if none can hold it."""
        while self._column + _count_cells(text) > self._width:
            room = self._width - self._column
            fitting = _cut_to_room(text, room)
            if not fitting and self._column > _count_cells(self._prefix[0]) + _count_cells(
                self._hang
            ):
                self._continue_word()
                continue
            fitting = fitting or text[:1]
            self._put(fitting, style)
            text = text[len(fitting) :]
            if not text:
                return
            self._continue_word()
        self._put(text, style)

    def _continue_word(self) -> None:
        is_long = self._is_long
        self._end_line()
        self._begin_line(self._hang)
        self._is_long = is_long

    def _begin_line(self, hang: str) -> None:
        if self._open:
            return
        self._open = True
        self._is_broken = False
        self._put(*self._prefix)
        self._put(hang, "")

    def _end_line(self) -> None:
        if not self._open:
            self._put(self._prefix[0].rstrip(), self._prefix[1])
        self._put("\n", "")
        self._open = False
        self._column = 0
        self._space.clear()
        self._is_long = False

    def _put(self, text: str, style: str) -> None:
        if text:
            if style != self._ready_style:
                self._send()
                self._ready_style = style
            self._ready.append(text)
            self._column += _count_cells(text)

    def _send(self) -> None:
        """Write what is ready, as few pieces as its styles allow."""
        if self._ready:
            self._write("".join(self._ready), self._ready_style)
            self._ready.clear()


def _count_cells(text: str) -> int:
    """The cells of a text; where signs are joined, those of a terminal that does not join them."""
    if text.isascii():
        return len(text)
    if "\u200d" not in text:
        return cell_len(text)
    return sum(map(cell_len, text.split("\u200d")))


def wrap_line(line: str, width: int, *, hang: int | None = None) -> str:
    """Return a line as lines of at most `width` cells.

    Args:
        line: The line.
        width: The cells of a line.
        hang: The spaces that the lines after the first begin with, where half of the width is left;
            otherwise they begin as far to the right as the first.
    """
    pieces: list[str] = []
    indent = len(line) - len(line.lstrip())
    wrapper = Wrapper(lambda text, _: pieces.append(text), lambda: width)
    wrapper.hang(" " * next((each for each in (hang, indent) if each and each < width // 2), 0))
    wrapper.feed(line, "")
    wrapper.finish()
    return "".join(pieces).removesuffix("\n")


def _split_word(token: str, longest: int) -> list[str]:
    """The parts of a word between which a line may end, of at most `longest` characters."""
    if token.isascii():
        return [token[start : start + longest] for start in range(0, len(token), longest)]
    parts: list[str] = []
    narrow = ""
    for character in token:
        if get_character_cell_size(character) == 2 or len(narrow) >= longest:
            if narrow:
                parts.append(narrow)
            narrow = ""
        if get_character_cell_size(character) == 2:
            parts.append(character)
        else:
            narrow += character
    if narrow:
        parts.append(narrow)
    return parts


def _cut_to_room(text: str, room: int) -> str:
    """The longest beginning of `text` that takes at most `room` cells."""
    if text.isascii():
        return text[: max(0, room)]
    used = 0
    for index, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > room:
            return text[:index]
    return text
