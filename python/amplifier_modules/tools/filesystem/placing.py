"""Placing the hunks of a patch in the text of a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from .edits import NoMatchError, SeveralMatchesError
from .near_lines import find_near_lines
from .patch import Hunk
from .text_file import BOM, Part, TextFile

_MAX_NAMED_LINES = 10


def apply_hunks(path: str, file: TextFile, hunks: Sequence[Hunk]) -> TextFile:
    """Return a file after all hunks, each at the only place where its lines are.

    Where several places have them, that of its line number counts, if one is given.

    Args:
        path: The file, for messages.
        file: What it holds.
        hunks: In the order of the file.

    Raises:
        NoMatchError: The lines of a hunk are not there.
        SeveralMatchesError: They are there more than once.
    """
    lines = _FileLines(path, file.text)
    parts: list[Part] = []
    done = offset = 0
    for given in hunks:
        hunk = _remove_mark(given) if file.has_mark else given
        place = lines.find_place(hunk, done, offset)
        if hunk.first_line is not None:
            offset = place - (hunk.first_line - 1)
        done = place + len(hunk.old)
        parts += lines.make_parts(hunk, place)
    return file.replace_parts(parts)


class _FileLines:
    """The lines of a text, and where each of them is."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self._ends_open = bool(text) and not text.endswith("\n")
        self._lines = text.split("\n") if self._ends_open else text.split("\n")[:-1]
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._offsets = [0]
        for number, line in enumerate(self._lines):
            self._places[line].append(number)
            self._offsets.append(self._offsets[-1] + len(line) + 1)
        self._offsets[-1] = len(text)

    def find_place(self, hunk: Hunk, done: int, offset: int) -> int:
        """Return the line where a hunk begins, counted from 0.

        Args:
            hunk: The hunk.
            done: Where the hunk before it ends.
            offset: How far that was from its line number.
        """
        old = hunk.old
        last = len(self._lines) - len(old)
        if hunk.at_end or hunk.old_ends_open or hunk.new_ends_open:
            is_open = self._ends_open or not hunk.old_ends_open
            if last < done or not self._is_at(last, old) or not is_open:
                raise self._describe_miss(hunk, old, done)
            return last
        if not old:
            if self._lines:
                raise NoMatchError(
                    f"{_name_hunk(hunk)} has no line of `{self._path}` (add those around it)"
                )
            return 0
        if hunk.first_line is not None:
            expected = hunk.first_line - 1 + offset
            if done <= expected <= last and self._is_at(expected, old):
                return expected
        if hunk.anchors:
            places = self._find_after_anchors(hunk, old, done)
        else:
            places = list(islice(self._find(old, done), _MAX_NAMED_LINES + 1))
        if not places:
            raise self._describe_miss(hunk, old, done)
        if len(places) > 1:
            named = ", ".join(f"{place + 1:,}" for place in places[:_MAX_NAMED_LINES])
            more = ", …" if len(places) > _MAX_NAMED_LINES else ""
            raise SeveralMatchesError(
                f"{_name_hunk(hunk)} fits `{self._path}` at lines {named}{more} (add lines around it until"
                " it fits once)"
            )
        return places[0]

    def make_parts(self, hunk: Hunk, place: int) -> Iterator[Part]:
        """Yield what a hunk changes at its place."""
        is_said = hunk.old_ends_open or hunk.new_ends_open
        ends_open = hunk.new_ends_open if is_said else self._ends_open
        for within, old, new in hunk.split():
            first, end = place + within, place + within + len(old)
            start, stop = self._offsets[first], self._offsets[end]
            text = "".join(f"{line}\n" for line in new)
            if end == len(self._lines):
                if first == end and self._ends_open:
                    text = f"\n{text}"  # ends the line before it
                if ends_open and text:
                    text = text.removesuffix("\n")
                elif ends_open and first:
                    start -= 1  # the line before it ends the file
            yield start, stop, text

    def _is_at(self, place: int, old: tuple[str, ...]) -> bool:
        return tuple(self._lines[place : place + len(old)]) == old

    def _find(self, old: tuple[str, ...], first: int) -> Iterator[int]:
        """Yield where lines are, from a line on."""
        # The line that is there least often has the fewest places to look at.
        counts = [len(self._places.get(line, ())) for line in old]
        rarest = counts.index(min(counts))
        for found in self._places.get(old[rarest], ()):
            place = found - rarest
            if place >= first and self._is_at(place, old):
                yield place

    def _find_after_anchors(self, hunk: Hunk, old: tuple[str, ...], done: int) -> list[int]:
        """Return the first place after each line that the anchors of a hunk may mean."""
        first, *further = hunk.anchors
        starts = list(self._find_anchor(first, done))
        for anchor in further:
            inner = (next(self._find_anchor(anchor, start + 1), None) for start in starts)
            starts = [start for start in inner if start is not None]
        if not starts:
            near = find_near_lines(self._text, "\n".join(hunk.anchors))
            raise NoMatchError(
                f"`@@ {hunk.anchors[-1]}` of {_name_hunk(hunk)} is not in `{self._path}` ({near})"
            )
        places = (next(self._find(old, start), None) for start in starts[: _MAX_NAMED_LINES + 1])
        return sorted({place for place in places if place is not None})

    def _find_anchor(self, anchor: str, first: int) -> Iterator[int]:
        places = range(first, len(self._lines))
        return (place for place in places if self._lines[place].strip() == anchor)

    def _describe_miss(self, hunk: Hunk, old: tuple[str, ...], done: int) -> NoMatchError:
        place = next(self._find(old, 0), None) if old else None
        if place is None:
            reason = find_near_lines(self._text, "\n".join(old))
        elif hunk.old_ends_open and not self._ends_open:
            reason = "the file ends with a newline character"
        elif place < done:
            reason = f"line {place + 1:,} is before the hunk before it; hunks go in the order of the file"
        else:
            reason = f"line {place + 1:,} is not the end of the file"
        return NoMatchError(f"{_name_hunk(hunk)} is not in `{self._path}` ({reason})")


def _remove_mark(hunk: Hunk) -> Hunk:
    """Return a hunk without the mark of the encoding, which the file has before its text."""
    lines = tuple((mark, line.removeprefix(BOM)) for mark, line in hunk.lines)
    return replace(hunk, lines=lines)


def _name_hunk(hunk: Hunk) -> str:
    return f"the hunk at line {hunk.place:,} of the patch"
