"""Edits of a text: each replaces what is there exactly once, or everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from amplifier_modules.tools.blocking import Arguments

from .near_lines import find_near_lines
from .text_file import BOM, TextFile, check_writable, normalize_lines

_MAX_NAMED_LINES = 10


class Edit(Arguments):
    """One replacement."""

    old: str = Field(
        min_length=1,
        description="The text to replace, exactly as it is in the file; it must be there once.",
    )
    new: str = Field(description="The text to put in its place.")
    replace_all: bool = Field(
        default=False, description="Whether to replace it everywhere instead."
    )


class NoMatchError(ValueError):
    """A text to replace that is not in the file."""


class SeveralMatchesError(ValueError):
    """A text to replace that is in the file more than once."""


class NoChangeError(ValueError):
    """An edit that changes nothing."""


def apply_edits(path: str, file: TextFile, edits: Sequence[Edit]) -> TextFile:
    """Return a file after all edits, each made on what the one before it left.

    Args:
        path: The file, for messages.
        file: What it holds.
        edits: Of which all can be made, or none is.

    Raises:
        NoMatchError: What is to be replaced is not there.
        SeveralMatchesError: It is there more than once.
        NoChangeError: An edit replaces a text by itself.
        NotUtf8Error: A text cannot be in a file.
    """
    for number, edit in enumerate(edits, 1):
        of_edit = f" of edit {number}" if len(edits) > 1 else ""
        file = _apply(path, file, edit, of_edit)
    return file


def _apply(path: str, file: TextFile, edit: Edit, of_edit: str) -> TextFile:
    check_writable(f"new{of_edit}", edit.new)
    old, new = normalize_lines(edit.old), normalize_lines(edit.new)
    if old.startswith(BOM) and not file.text.startswith(BOM):
        # `read_file` shows the mark before the text.
        old, new = old.removeprefix(BOM), new.removeprefix(BOM)
    if old == new:
        raise NoChangeError(f"`old` and `new`{of_edit} are the same text")
    if not old:
        raise NoMatchError(f"`old`{of_edit} is only the mark of the encoding, which stays")
    if edit.replace_all:
        places = list(_find(file.text, old, len(old)))
    else:
        places = list(_find(file.text, old, 1))
    if not places:
        near = find_near_lines(file.text, old)
        raise NoMatchError(f"`old`{of_edit} is not in `{path}` ({near})")
    if len(places) > 1 and not edit.replace_all:
        raise SeveralMatchesError(
            f"`old`{of_edit} is in `{path}` {len(places):,} times, at {_name_lines(file.text, places)}"
            " (add lines around it until it is there once, or set `replace_all`)"
        )
    return file.replace(places, old, new)


def _find(text: str, wanted: str, step: int) -> Iterator[int]:
    """Yield where a text is, and look on so many characters after each place."""
    place = text.find(wanted)
    while place >= 0:
        yield place
        place = text.find(wanted, place + step)


def _name_lines(text: str, places: Sequence[int]) -> str:
    numbers = [text.count("\n", 0, place) + 1 for place in places[:_MAX_NAMED_LINES]]
    further = len(places) - len(numbers)
    listed = ", ".join(f"{number}" for number in dict.fromkeys(numbers))
    word = "lines" if "," in listed else "line"
    return f"{word} {listed}" + (f" and {further:,} more places" if further else "")
