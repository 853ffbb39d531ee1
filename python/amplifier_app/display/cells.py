"""The cells that text takes in a terminal, and where a word may be cut."""

from __future__ import annotations

import re

from rich.cells import cell_len, get_character_cell_size

_NARROW = re.compile(
    r"[ -~\xa1-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u2319"
    r"\u2500-\u25fc]*"
)
"""Signs that take one cell whatever is beside them, and no white space but the blank."""


def is_narrow(text: str) -> bool:
    """Whether a text surely takes a cell for each character; false for many that do, too."""
    return _NARROW.fullmatch(text) is not None


def count_cells(text: str) -> int:
    """The cells of a text; where signs are joined, those of a terminal that does not join them."""
    if text.isascii():
        return len(text)
    if "\u200d" not in text:
        return cell_len(text)
    return sum(map(cell_len, text.split("\u200d")))


def split_word(token: str, longest: int) -> list[str]:
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


def cut_to_room(text: str, room: int) -> str:
    """The longest beginning of `text` that takes at most `room` cells."""
    if text.isascii():
        return text[: max(0, room)]
    used = 0
    for index, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > room:
            return text[:index]
    return text
