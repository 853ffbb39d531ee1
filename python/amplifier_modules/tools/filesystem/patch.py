"""A patch: what is to become of files, whatever form it was written in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Mark = Literal[" ", "-", "+"]
"""Whether a line stays, goes or comes."""

_MARKED = re.compile(r"[ +-]")


class PatchError(ValueError):
    """A patch that cannot be read, or that no file can be changed by."""


@dataclass(frozen=True)
class Hunk:
    """Lines that follow each other in a file, and what becomes of them."""

    lines: tuple[tuple[Mark, str], ...]
    place: int
    """The line of the patch where it begins, for messages."""
    first_line: int | None = None
    """Where it is said to begin in the file, from 1; None if nothing is said."""
    anchors: tuple[str, ...] = ()
    """Lines of the file after which it is, one after the other."""
    at_end: bool = False
    """Whether it is said to end where the file does."""
    old_ends_open: bool = False
    """Whether the file is said to end with it and without a newline character."""
    new_ends_open: bool = False
    """Whether the file is to end so."""

    @property
    def old(self) -> tuple[str, ...]:
        """The lines that the file has."""
        return tuple(line for mark, line in self.lines if mark != "+")

    @property
    def new(self) -> tuple[str, ...]:
        """The lines that it is to have instead."""
        return tuple(line for mark, line in self.lines if mark != "-")

    def split(self) -> Iterator[tuple[int, list[str], list[str]]]:
        """Yield each row of lines that change: its place in `old`, what goes, and what comes."""
        place = 0
        for stays, group in groupby(self.lines, key=lambda line: line[0] == " "):
            lines = list(group)
            goes = [line for mark, line in lines if mark != "+"]
            if not stays:
                yield place, goes, [line for mark, line in lines if mark == "+"]
            place += len(goes)


@dataclass(frozen=True)
class FileChange:
    """What a patch does to one file."""

    old_path: str | None
    """Where the file is; None for a new one."""
    new_path: str | None
    """Where it is to be; None if it is deleted."""
    hunks: tuple[Hunk, ...]
    place: int
    """The line of the patch where it begins, for messages."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that it names, each once."""
        paths = (self.old_path, self.new_path)
        return tuple(dict.fromkeys(path for path in paths if path is not None))


def read_marked(lines: Sequence[str], place: int) -> tuple[tuple[Mark, str], ...]:
    """Return the lines of a hunk, each with its mark; an empty one is a line that stays.

    Args:
        lines: As they are in the patch.
        place: The line of the patch before them.

    Raises:
        PatchError: One has no mark, or none changes.
    """
    marked: list[tuple[Mark, str]] = []
    for number, line in enumerate(lines, place + 1):
        mark = line[:1] or " "
        if not _MARKED.match(mark):
            shown = line[:80]
            raise PatchError(
                f"line {number:,} of the patch begins neither with a blank, `-` nor `+`: `{shown}`"
            )
        marked.append((mark, line[1:]))  # pyright: ignore[reportArgumentType] -- matched above
    if all(mark == " " for mark, _ in marked):
        raise PatchError(f"the hunk at line {place:,} of the patch changes no line")
    return tuple(marked)
