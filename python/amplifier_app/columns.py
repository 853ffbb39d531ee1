"""Lines in columns, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence

from rich.cells import cell_len

_GAP = "  "
_MIN_CELLS = 16
"""The first column and the last one have at least so many cells, also in a narrow terminal."""


def in_columns(
    rows: Sequence[Sequence[str]], width: int | None, right: Collection[int] = ()
) -> Iterator[str]:
    """Yield the lines of a table.

    A name that is too long for the first column stands on a line of its own, and the last column
    is wrapped.

    Args:
        rows: The cells of each row.
        width: The cells of a line; None for no limit.
        right: The columns that are aligned to the right.
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    last = widths[-1]
    if width is not None:
        between = sum(widths[1:-1]) + len(_GAP) * (len(widths) - 1)
        widths[0] = min(widths[0], max(_MIN_CELLS, width - between - widths[-1]))
        last = max(_MIN_CELLS, width - between - widths[0])
    for first, *middle, text in rows:
        if cell_len(first) > widths[0]:
            yield first
            first = ""
        cells = [
            _pad_cell(cell, widths[place], is_right=place in right)
            for place, cell in enumerate([first, *middle])
        ]
        begin = _GAP.join(cells) + _GAP
        wrapped = textwrap.wrap(text, last, break_long_words=False, break_on_hyphens=False)
        for line in wrapped or [""]:
            yield (begin + line).rstrip()
            begin = " " * cell_len(begin)


def _pad_cell(text: str, width: int, *, is_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if is_right else text + space
