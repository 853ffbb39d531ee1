"""Tables of Markdown, drawn when all their rows are there."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from amplifier_app.display.cells import count_cells
from amplifier_app.display.inline import Span, read_spans
from amplifier_app.display.wrapping import Wrapper

if TYPE_CHECKING:
    from collections.abc import Sequence

Cell: TypeAlias = tuple[list[Span], int]
"""The spans of a cell, and how wide they are."""

_SEPARATOR = re.compile(r"\s*\|?(\s*:?-+:?\s*\|)+\s*:?-*:?\s*\|?\s*$")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"[`*]*[\d.,\s%+-]*[`*]*")
_GAP = "   "
_HEAD_STYLES = {
    "": "table.head",
    "text.strong": "table.head",
    "text.code": "table.head.code",
    "text.emphasis": "table.head.emphasis",
}


def is_row(line: str) -> bool:
    """Whether a line may be a row of a table."""
    return line.lstrip().startswith("|")


def draw_table(lines: Sequence[str], width: int, across: str) -> list[Span]:
    """Return a table as spans that end in a newline.

    Args:
        lines: Its rows as the model wrote them.
        width: The cells that it may have.
        across: The sign of the line below its head.

    Returns:
        Nothing if it is no table, or if a column cannot hold its longest word.
    """
    if len(lines) < 2 or not _SEPARATOR.match(lines[1]):
        return []
    texts = [_split_cells(line) for line in (lines[0], *lines[2:])]
    columns = max(map(len, texts))
    # A few long rows among short ones would take time for each cell that is not there.
    if columns * len(lines) > sum(map(len, lines)):
        return []
    head, *body = [[_read_cell(text) for text in row] for row in texts]
    widths = _share_width([head, *body], columns, width - len(_GAP) * (columns - 1))
    if not widths:
        return []
    are_right = [_are_numbers(texts[1:], column) for column in range(columns)]
    styled = [([(text, _HEAD_STYLES[style]) for text, style in spans], n) for spans, n in head]
    spans = _draw_row(styled, widths, are_right)
    spans.append((across * (sum(widths) + len(_GAP) * (columns - 1)) + "\n", ""))
    for row in body:
        spans += _draw_row(row, widths, are_right)
    return spans


def _split_cells(row: str) -> list[str]:
    row = row.strip().removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return [cell.strip() for cell in _CELL_EDGE.split(row)]


def _read_cell(text: str) -> Cell:
    return _measure_cell(read_spans(text))


def _measure_cell(spans: list[Span]) -> Cell:
    return spans, sum([count_cells(text) for text, _ in spans])


def _are_numbers(rows: Sequence[Sequence[str]], column: int) -> bool:
    cells = [row[column] for row in rows if column < len(row)]
    return bool(rows) and all(map(_NUMBER.fullmatch, cells))


def _share_width(rows: Sequence[Sequence[Cell]], columns: int, room: int) -> list[int]:
    """Return the cells of each column: the widest share what there is.

    It is nothing if the longest words of all columns take more than that.
    """
    cells = [[row[column] for row in rows if column < len(row)] for column in range(columns)]
    widths = [max([n for _, n in column]) for column in cells]
    if sum(widths) <= room:
        return widths
    longest = [max(_measure_longest_word(spans) for spans, _ in column) for column in cells]
    if sum(longest) > room:
        return []

    def share_width(most: int) -> list[int]:
        return [max(least, min(most, all)) for least, all in zip(longest, widths, strict=True)]

    return share_width(
        bisect_right(range(room + 1), room, key=lambda most: sum(share_width(most))) - 1
    )


def _measure_longest_word(spans: Sequence[Span]) -> int:
    return max(map(count_cells, "".join([text for text, _ in spans]).split()), default=0)


def _draw_row(row: Sequence[Cell], widths: Sequence[int], are_right: Sequence[bool]) -> list[Span]:
    spans: list[Span] = []
    columns = [_wrap_cell(cell, width) for cell, width in zip(row, widths, strict=False)]
    for line in zip_longest(*columns, fillvalue=([], 0)):
        gap = ""
        for (cell, cells), width, is_right in zip(line, widths, are_right, strict=False):
            pad = " " * (width - cells)
            before = gap + pad if is_right else gap
            if cell:
                if before:
                    spans.append((before, ""))
                spans += cell
                before = ""
            gap = before + _GAP if is_right else before + pad + _GAP
        spans.append(("\n", ""))
    return spans


def _wrap_cell(cell: Cell, width: int) -> list[Cell]:
    if cell[1] <= width:
        return [cell]
    lines: list[list[Span]] = [[]]

    def put(spans: Sequence[Span]) -> None:
        for text, style in spans:
            first, *others = text.split("\n")
            lines[-1].append((first, style))
            lines.extend([(text, style)] for text in others)

    wrapper = Wrapper(put, lambda: width)
    wrapper.add(cell[0])
    wrapper.finish()
    return [_measure_cell(line) for line in lines[:-1]]
