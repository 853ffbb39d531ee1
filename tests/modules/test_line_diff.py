"""The unified diff of what tools write, against the texts that it is made of."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.changes.line_diff import compare_lines

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", ""]), max_size=40)


def patch(before: str, diff: str) -> str:
    """Apply a unified diff, and check each line that it names."""
    lines = before.splitlines(keepends=True)
    made: list[str] = []
    done = 0
    rows = diff.split("\n")[2:]
    for row, following in pairwise(rows):
        if match := re.match(r"@@ -(\d+)(,0)?", row):
            start = int(match[1]) - (match[2] is None)
            made += lines[done:start]
            done = start
            continue
        text = row[1:] if following.startswith("\\") else f"{row[1:]}\n"
        if row[0] in " -":
            assert lines[done] == text
            done += 1
        if row[0] in " +":
            made.append(text)
    return "".join([*made, *lines[done:]])


@given(LINES, LINES, st.booleans(), st.booleans())
def test_a_diff_leads_from_one_text_to_the_other(
    old: list[str], new: list[str], old_ends: bool, new_ends: bool
) -> None:
    before = "\n".join(old) + "\n" * old_ends
    after = "\n".join(new) + "\n" * new_ends
    diff = compare_lines("x", before.encode(), after.encode())
    assert (diff.text == "") is (before == after)
    assert patch(before, diff.text) == after
    body = diff.text.splitlines()[2:]
    assert sum(line.startswith("+") for line in body) == diff.added
    assert sum(line.startswith("-") for line in body) == diff.removed


def test_far_changes_of_a_long_text_are_shown_alone() -> None:
    lines = [f"line {number}\n" for number in range(20_000)]
    before = "".join(lines)
    lines[5], lines[10_000:10_001], lines[19_990] = "five\n", [], "late\n"
    diff = compare_lines("x", before.encode(), "".join(lines).encode())
    assert (diff.added, diff.removed, diff.text.count("@@ -")) == (2, 3, 3)


def test_texts_without_a_common_line_are_one_change() -> None:
    diff = compare_lines("x", b"a\n" * 50_000, b"b\n" * 50_000)
    assert (diff.added, diff.removed) == (50_000, 50_000)
