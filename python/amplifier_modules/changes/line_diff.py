"""The difference between two texts as a unified diff, in a time that grows with their lines."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_CONTEXT_LINES = 3
_MAX_CLOSE_LINES = 300
"""Lines between two that are surely the same that are compared each with each."""

Change = tuple[int, int, int, int]
"""The lines that give way and those that take their place: first and end of each."""


@dataclass(frozen=True)
class LineDiff:
    """What `diff -u` says, and how much it is."""

    text: str
    added: int
    removed: int


@dataclass(frozen=True)
class Hunk:
    """Changed lines that lie together, with the lines around them."""

    text: str
    """As `diff -u` shows it; bytes that are no text as `\\xff`."""
    changes: tuple[tuple[int, int, bytes], ...]
    """The lines that give way, by their numbers, and what takes their place."""


def find_hunks(before: bytes, after: bytes) -> list[Hunk]:
    """Return what leads from one content of a file to another; `apply_hunks` is exact to the byte."""
    old, new = _split_lines(before, "surrogateescape"), _split_lines(after, "surrogateescape")
    return [
        Hunk(
            _encode(_write_hunk(old, new, changes)).decode("utf-8", "backslashreplace"),
            tuple((a, b, _encode("".join(new[c:d]))) for a, b, c, d in changes),
        )
        for changes in _split_hunks(list(_find_changes(old, new)))
    ]


def apply_hunks(before: bytes, hunks: Sequence[Hunk]) -> bytes:
    """Return a content with some of the hunks of `find_hunks` made, in their order."""
    lines = [_encode(line) for line in _split_lines(before, "surrogateescape")]
    pieces: list[bytes] = []
    done = 0
    for start, end, text in (change for hunk in hunks for change in hunk.changes):
        pieces += [*lines[done:start], text]
        done = end
    return b"".join([*pieces, *lines[done:]])


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def compare_lines(
    path: str, before: bytes | None, after: bytes | None, old_path: str | None = None
) -> LineDiff:
    """Return what leads from one content of a file to another.

    Args:
        path: The file, for the head of the diff.
        before: Its content; None if there was no file.
        after: Its content now; None if there is no file any more.
        old_path: Where the file was, if it was somewhere else.
    """
    old, new = _split_lines(before or b""), _split_lines(after or b"")
    changes = list(_find_changes(old, new))
    source = "/dev/null" if before is None else f"a/{old_path or path}"
    target = "/dev/null" if after is None else f"b/{path}"
    head = [f"--- {source}\n", f"+++ {target}\n"] if changes else []
    hunks = (_write_hunk(old, new, hunk) for hunk in _split_hunks(changes))
    return LineDiff(
        text="".join([*head, *hunks]),
        added=sum(change[3] - change[2] for change in changes),
        removed=sum(change[1] - change[0] for change in changes),
    )


def _split_lines(content: bytes, errors: str = "replace") -> list[str]:
    lines = content.decode("utf-8", errors).split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _find_changes(old: list[str], new: list[str]) -> Iterator[Change]:
    """Yield the changes in order; lines that are there once in both texts are where they meet."""
    start, old_end, new_end = _find_bounds(old, new, (0, len(old), 0, len(new)))
    meets = _find_meets(old[start:old_end], new[start:new_end])
    places = [(start + one, start + other) for one, other in meets]
    for (one, other), (next_one, next_other) in pairwise(
        [(start - 1, start - 1), *places, (old_end, new_end)]
    ):
        yield from _compare_closely(old, new, (one + 1, next_one, other + 1, next_other))


def _find_bounds(old: list[str], new: list[str], part: Change) -> tuple[int, int, int]:
    """Return where two texts begin to differ and where each ends to."""
    start, old_end, _, new_end = part
    while start < min(old_end, new_end) and old[start] == new[start]:
        start += 1
    while min(old_end, new_end) > start and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return start, old_end, new_end


def _find_meets(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the longest row of lines that are there once in each, in the order of both."""
    in_old, in_new = Counter(old), Counter(new)
    place = {line: number for number, line in enumerate(new) if in_new[line] == 1}
    pairs = [
        (number, place[line])
        for number, line in enumerate(old)
        if in_old[line] == 1 and line in place
    ]
    # Of all rows of one length the one whose last line comes first in `new`, and what led to it.
    lasts: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        length = bisect_left(lasts, other)
        before.append(ends[length - 1] if length else -1)
        if length == len(lasts):
            lasts.append(other)
            ends.append(index)
        else:
            lasts[length], ends[length] = other, index
    row: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _compare_closely(old: list[str], new: list[str], part: Change) -> Iterator[Change]:
    old_start, old_end, new_start, new_end = part
    one, other = old[old_start:old_end], new[new_start:new_end]
    if not one and not other:
        return
    if len(one) + len(other) > _MAX_CLOSE_LINES:
        start, one_end, other_end = _find_bounds(one, other, (0, len(one), 0, len(other)))
        if start < max(one_end, other_end):
            yield (
                old_start + start,
                old_start + one_end,
                new_start + start,
                new_start + other_end,
            )
        return
    for tag, *(a, b, c, d) in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            yield old_start + a, old_start + b, new_start + c, new_start + d


def _split_hunks(changes: list[Change]) -> Iterator[list[Change]]:
    """Yield the changes that share the lines around them."""
    group: list[Change] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * _CONTEXT_LINES:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _write_hunk(old: list[str], new: list[str], hunk: list[Change]) -> str:
    before = min(_CONTEXT_LINES, hunk[0][0])
    after = min(_CONTEXT_LINES, len(old) - hunk[-1][1])
    old_start, old_end = hunk[0][0] - before, hunk[-1][1] + after
    new_start, new_end = hunk[0][2] - before, hunk[-1][3] + after
    written = [f"@@ -{_write_range(old_start, old_end)} +{_write_range(new_start, new_end)} @@\n"]
    done = old_start
    for change in hunk:
        written += [_write_line(" ", line) for line in old[done : change[0]]]
        written += [_write_line("-", line) for line in old[change[0] : change[1]]]
        written += [_write_line("+", line) for line in new[change[2] : change[3]]]
        done = change[1]
    return "".join([*written, *(_write_line(" ", line) for line in old[done:old_end])])


def _write_line(mark: str, line: str) -> str:
    end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{mark}{line}{end}"


def _write_range(start: int, end: int) -> str:
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"
