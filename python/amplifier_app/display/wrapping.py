"""Word wrapping of text that arrives in pieces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import get_character_cell_size

from amplifier_app.display.cells import count_cells, cut_to_room, is_narrow, split_word
from amplifier_app.display.line_ends import cut_spans, find_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amplifier_app.display.inline import Span

_SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_NEWLINE = (("\n", ""),)
_TOKEN = re.compile(r"\s+|\S+")


class Wrapper:
    """Writes styled text in lines of at most `width` cells, and never writes twice.

    A word is held until its end is known; everything before it is on the screen already.

    Args:
        write: Takes spans in the order of the screen, none of them empty.
        find_width: Returns the cells that a line may have now, prefix included.
        prefix: Begins each line.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Span]], object],
        find_width: Callable[[], int],
        *,
        prefix: Span = ("", ""),
    ) -> None:
        self._write = write
        self._find_width = find_width
        self._width = find_width()
        self._row_start = [prefix] if prefix[0] else []
        self._first_column = count_cells(prefix[0])
        self._column = 0
        self._open = False
        self._space: list[Span] = []
        self._is_long = False
        self._is_broken = False
        self._word: list[Span] = []
        self._word_cells = 0
        self._ready: list[Span] = []
        self._run: list[str] = []
        """Texts of one style, to be a span of `_ready`."""
        self._run_style = ""
        self._hang = ""
        self._next_row_start = [*_NEWLINE, *self._row_start]
        self._next_column = self._first_column

    def feed(self, text: str, style: str) -> None:
        """Add text and write what it completes; newlines end lines."""
        self.measure_width()
        first, *others = text.split("\n")
        self.add([(first, style)])
        for line in others:
            self.end_line()
            self.add([(line, style)])
        self.send()

    def measure_width(self) -> None:
        """Use the width of the moment from now on."""
        self._width = self._find_width()

    def add(self, spans: Sequence[Span]) -> None:
        """Add spans of a line, without newlines."""
        if self._is_long or self._is_broken or not self._add_words(spans):
            for text, style in spans:
                for token in _TOKEN.findall(text):
                    self._add_token(token, style)

    def add_line(self, spans: Sequence[Span], hang: str = "") -> None:
        """Add a whole line; the rows after its first begin with `hang`."""
        if not (self._open or self._space or self._word or self._row_start or self._is_broken):
            text = "".join([text for text, _ in spans])
            if len(text) <= self._width and is_narrow(text) and not text.endswith(" "):
                self._end_run()
                self._ready += spans
                self._ready += _NEWLINE
                return
        if hang:
            self.hang(hang)
        self.add(spans)
        self.end_line()

    def add_as_it_is(self, text: str, style: str) -> None:
        """Add text that is not wrapped, between lines."""
        self._end_run()
        self._ready.append((text, style))

    def end_line(self) -> None:
        """End a line of the text."""
        self._place_word()
        self._end_row()
        self.hang("")

    def send(self) -> None:
        """Write at once what was completed since the last time."""
        self._end_run()
        if self._ready:
            ready, self._ready = self._ready, []
            self._write(ready)

    def hang(self, text: str) -> None:
        """Begin the rows after this one with `text` until the next newline."""
        if text == self._hang:
            return
        self._hang = text
        hang = [(text, "")] if text else []
        self._next_row_start = [*_NEWLINE, *self._row_start, *hang]
        self._next_column = self._first_column + count_cells(text)

    def break_line(self) -> None:
        """End the line so that something else can be printed; the text continues in the next one."""
        self._place_word()
        if self._open:
            self._end_row()
            self._is_broken = True
        self.send()

    def finish(self) -> None:
        """Put the held word on the screen and end the line if it has anything."""
        self._place_word()
        if self._open:
            self._end_row()
        self.hang("")
        self.send()

    def _add_words(self, spans: Sequence[Span]) -> bool:
        """Add words of narrow characters all at once; whether that is what they are."""
        text = spans[0][0] if len(spans) == 1 else "".join([text for text, _ in spans])
        if " " not in (text if self._word else text.lstrip(" ")):
            return False
        if self._space or self._word:
            held = [*self._space, *self._word]
            held_text = "".join([text for text, _ in held])
            first, style = spans[0]
            if all(held_style == style for _, held_style in held):
                spans = [(held_text + first, style), *spans[1:]]
            else:
                spans = [*held, *spans]
            text = held_text + text
        if not is_narrow(text):
            return False
        word = text.rfind(" ") + 1
        if len(text) - word > self._width:
            return False
        end = len(text[:word].rstrip(" "))
        column = self._column if self._open else self._first_column
        room, room_after = self._width - column, self._width - self._next_column
        lines = [(0, end)]
        if end > room:
            lines = find_lines(text, end, room, room_after, is_open=self._open)
            if not lines:
                return False
        self._begin_row()
        self._end_run()
        *rows, self._space, self._word = cut_spans(spans, [*lines, (end, word), (word, len(text))])
        self._word_cells = len(text) - word
        self._ready += rows[0]
        for row in rows[1:]:
            self._ready += self._next_row_start
            self._ready += row
        start, end = lines[-1]
        self._column = (self._next_column if len(lines) > 1 else column) + end - start
        return True

    def _add_token(self, token: str, style: str) -> None:
        if token.isspace():
            self._place_word()
            if not self._is_broken:
                self._space.append((token, style))
            self._is_long = False
            return
        if token.isascii() and self._word_cells + len(token) <= self._width:
            if self._word and self._word[-1][1] == style:
                token_before, _ = self._word.pop()
                self._word.append((token_before + token, style))
            else:
                self._word.append((token, style))
            self._word_cells += len(token)
            return
        for piece in split_word(token, self._width):
            if get_character_cell_size(piece[0]) == 2 and not self._is_joined(piece):
                # Scripts of wide characters have no spaces: a line may end before any of them.
                self._place_word()
            self._word.append((piece, style))
            self._word_cells += count_cells(piece)
            if self._word_cells > self._width:
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
        cells = sum([count_cells(text) for text, _ in space])
        fits = self._column + cells + self._word_cells <= self._width
        # A word that the next line cannot hold fills the rest of this one.
        room = self._width - self._next_column
        if not self._open or fits or self._is_long or self._word_cells > room:
            self._begin_row()
            self._put(space, cells)
        else:
            self._begin_next_row()
        word, self._word, cells, self._word_cells = self._word, [], self._word_cells, 0
        if self._column + cells <= self._width:
            self._put(word, cells)
            return
        for text, style in word:
            self._put_broken(text, style)

    def _put_broken(self, text: str, style: str) -> None:
        """Write a piece of a word, over several lines if none can hold it."""
        while self._column + count_cells(text) > self._width:
            room = self._width - self._column
            fitting = cut_to_room(text, room)
            if not fitting and self._column > self._next_column:
                self._continue_word()
                continue
            fitting = fitting or text[:1]
            self._put([(fitting, style)], count_cells(fitting))
            text = text[len(fitting) :]
            if not text:
                return
            self._continue_word()
        self._put([(text, style)], count_cells(text))

    def _continue_word(self) -> None:
        is_long = self._is_long
        self._begin_next_row()
        self._is_long = is_long

    def _begin_row(self) -> None:
        """Begin the first row of a line, if it has not begun."""
        if not self._open:
            self._open = True
            self._is_broken = False
            self._put(self._row_start, self._first_column)

    def _begin_next_row(self) -> None:
        self._put(self._next_row_start, 0)
        self._column = self._next_column
        self._is_long = False

    def _end_row(self) -> None:
        if not self._open and self._row_start:
            prefix, style = self._row_start[0]
            self._put([(prefix.rstrip(), style)], 0)
        self._put(_NEWLINE, 0)
        self._open = False
        self._column = 0
        self._space.clear()
        self._is_long = False

    def _put(self, spans: Sequence[Span], cells: int) -> None:
        for text, style in spans:
            if style != self._run_style:
                self._end_run()
                self._run_style = style
            self._run.append(text)
        self._column += cells

    def _end_run(self) -> None:
        if self._run:
            self._ready.append(("".join(self._run), self._run_style))
            self._run.clear()


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
    wrapper = Wrapper(lambda spans: pieces.extend(text for text, _ in spans), lambda: width)
    wrapper.hang(" " * next((each for each in (hang, indent) if each and each < width // 2), 0))
    wrapper.feed(line, "")
    wrapper.finish()
    return "".join(pieces).removesuffix("\n")
