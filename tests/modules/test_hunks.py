"""Hunks of a file that are made alone: exact to the byte.

Holds: approval-45
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.changes.asked import FileHunks, find_file_hunks
from amplifier_modules.changes.line_diff import apply_hunks, find_hunks

ENDS = st.sampled_from([b"\n", b"\n", b"\r\n"])
WORDS = st.sampled_from([b"", b"a", b"b", b"a\rb", b"\xff", b"\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8"])  # fmt: skip
LINES = st.lists(st.builds(bytes.__add__, WORDS, ENDS), max_size=40)
EDITS = st.lists(st.tuples(st.integers(0, 40), st.booleans(), WORDS), max_size=6)


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two versions of a file, of which the last lines may have no end."""
    old = draw(LINES)
    new = list(old)
    for place, is_removed, word in draw(EDITS):
        if is_removed:
            del new[place : place + 1]
        else:
            new.insert(place, word + draw(ENDS))
    tails = draw(st.tuples(WORDS, WORDS))
    return b"".join(old) + tails[0], b"".join(new) + tails[1]


def split(content: bytes) -> list[bytes]:
    *lines, last = content.split(b"\n")
    return [each + b"\n" for each in lines] + ([last] if last else [])


def patch_by_hand(before: bytes, texts: list[str]) -> bytes:
    """What `patch` does: read the numbers of each hunk, and put its lines where they say."""
    lines, done, made = split(before), 0, []
    for text in texts:
        head, *rows = text.removesuffix("\n").split("\n")
        start, _, count = head.split(" ")[1][1:].partition(",")
        first = int(start) - (count != "0")
        made += lines[done:first]
        done, is_new = first, True
        for row in rows:
            if row[0] == "\\":
                made[-1:] = [made[-1].removesuffix(b"\n")] if is_new else made[-1:]
                continue
            is_new = row[0] != "-"
            if row[0] == "+":
                made.append(row[1:].encode() + b"\n")
            else:
                made += lines[done : done + 1] if is_new else []
                done += 1
    return b"".join(made + lines[done:])


@given(versions(), st.data())
def test_any_hunks_make_what_a_patch_of_them_makes(
    both: tuple[bytes, bytes], data: st.DataObject
) -> None:
    before, after = both
    hunks = find_hunks(before, after)
    chosen = data.draw(st.lists(st.sampled_from(hunks), unique=True) if hunks else st.just([]))
    chosen.sort(key=lambda hunk: hunk.changes)
    made = apply_hunks(before, chosen)
    if all(b"\xff" not in each and b"\xfe" not in each and b"\xed" not in each for each in both):
        assert made == patch_by_hand(before, [hunk.text for hunk in chosen])
    assert apply_hunks(before, hunks) == after
    assert apply_hunks(before, []) == before
    # A line of a hunk is a row of it, whatever it holds.
    signs = {row[:1] for hunk in hunks for row in hunk.text.removesuffix("\n").split("\n")}
    assert signs <= {"@", " ", "+", "-", "\\"}


def test_a_file_that_is_no_text_has_no_hunks() -> None:
    lines = [b"%d\n" % number for number in range(30)]
    changed = [b"x\n", *lines[1:-1], b"y\n"]
    found = find_file_hunks("f", b"".join(lines), b"".join(changed))
    assert isinstance(found, FileHunks)
    assert found.names == ["f, hunk 1 of 2", "f, hunk 2 of 2"]
    assert found.list_left(["f, hunk 1 of 2"]) == ["f, hunk 2 of 2 (@@ -27,4 +27,4 @@)"]
    assert find_file_hunks("f", b"\0" + b"".join(lines), b"".join(changed)) is None
    assert find_file_hunks("f", None, b"".join(changed)) is None
    assert find_file_hunks("f", b"".join(lines), None) is None
