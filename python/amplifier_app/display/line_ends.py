"""Where text of one cell for each character is cut into lines, many words at a time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

from amplifier_app.display.inline import Span

Part: TypeAlias = tuple[int, int]
"""Where a part of a text begins and ends."""

_WORD = re.compile("[^ ]")


def find_lines(text: str, end: int, room: int, room_after: int, *, is_open: bool) -> list[Part]:
    """Return the lines of the beginning of a text.

    Args:
        text: Words and blanks.
        end: Where the last word ends that goes into these lines; a blank follows.
        room: Cells that are left in the first line.
        room_after: Cells of each line after that.
        is_open: Whether the first line has something already, so that the first word may go to
            the next one.

    Returns:
        Where each line begins and ends, without the blanks between them; the first is empty if no
        word goes there. Without any if a word is too long for a line.
    """
    lines: list[Part] = []
    start = 0
    while end - start > room:
        at = text.rfind(" ", start, start + room + 1)
        stop = start if at < 0 else start + len(text[start:at].rstrip(" "))
        if stop == start and (lines or not is_open):
            return []
        lines.append((start, stop))
        word = _WORD.search(text, max(at, start))
        start = end if word is None else word.start()
        if text.find(" ", start, start + room_after + 1) < 0:
            return []
        room = room_after
    lines.append((start, end))
    return lines


def cut_spans(spans: Sequence[Span], parts: Sequence[Part]) -> list[list[Span]]:
    """Return the spans of each part of the text that they are together.

    Args:
        spans: Spans one after the other.
        parts: Parts of their text, in order.
    """
    if len(spans) == 1:
        text, style = spans[0]
        return [[(text[start:stop], style)] if start < stop else [] for start, stop in parts]
    ends = list(accumulate([len(text) for text, _ in spans]))
    cut: list[list[Span]] = []
    for start, stop in parts:
        if start == stop:
            cut.append([])
            continue
        first = bisect_right(ends, start)
        last = bisect_left(ends, stop, first)
        line = list(spans[first : last + 1])
        if ends[last] > stop:
            text, style = line[-1]
            line[-1] = (text[: stop - ends[last]], style)
        before = start - ends[first] + len(spans[first][0])
        if before:
            text, style = line[0]
            line[0] = (text[before:], style)
        cut.append(line)
    return cut
