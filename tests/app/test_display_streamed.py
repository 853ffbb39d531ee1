"""A text in pieces: the screen is the same whatever they are, and words stay whole."""

from __future__ import annotations

import io
import re
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

sys.path.insert(0, str(Path(__file__).parent))

from drawn_events import Terminal, block, drawn, environment
from emulated_terminal import Emulated

from amplifier_app.display import Display
from amplifier_app.display.cells import is_narrow
from amplifier_app.display.screen import Screen

__all__ = ["environment"]

LINES = st.sampled_from(
    [
        *("word and **strong** text", "- an item of `several` words in more than one row of it"),
        *("> quoted *words* that go on in the next row of the screen", "# A heading of some words"),
        *("", "```py", "```", "~~~", "> ```", "> some code", ">", "1. first `code` x", "y " * 30),
        *("| a | b |", "|---|---|", "| `1` | two **words** and more of them |", "***", "2. two  "),
        *("日本語の文 with 👩\u200d🚀 and e\u0301", "“äöü” — and … more", "a" * 60 + " b"),
        *("x **strong over the end of a row, or of two** y `as code is` z", r"\* \| \x", "  "),
        *("  indented   with    many     blanks      between      words", "un**bo**ld`co`*de*"),
    ]
)
SIGNS = st.text(st.sampled_from("ab *`|#->_\\\n1.[]~é日"), max_size=80)
WORD = st.text(st.sampled_from("abcé"), min_size=1, max_size=12)


def show(text: str, kind: str, columns: int, cuts: list[int]) -> Emulated:
    """The terminal after a block that comes in pieces."""
    terminal = Emulated(columns)
    display = Display(Screen(terminal, width=columns))
    head = {"block_type": kind, "block_index": 0}
    display.handle("content_block:start", head)
    places = [0, *sorted(cuts), len(text)]
    for start, stop in pairwise(places):
        display.handle("content_block:delta", {**head, "delta": text[start:stop]})
    display.handle("content_block:end", {**head, "block": {"type": kind, kind: text}})
    display.finish()
    return terminal


@given(st.lists(LINES, max_size=6).map("\n".join) | SIGNS, st.data())
def test_the_screen_is_the_same_whatever_the_pieces_are(text: str, data: st.DataObject) -> None:
    columns = data.draw(st.integers(21, 130))
    kind = data.draw(st.sampled_from(["text", "thinking"]))
    some = st.lists(st.integers(0, len(text)), max_size=20)
    cuts = data.draw(some | st.just(list(range(len(text)))))
    whole, in_pieces = show(text, kind, columns, []), show(text, kind, columns, cuts)
    assert in_pieces.cells == whole.cells
    # Only styles are sent: nothing moves the cursor, so nothing above is drawn again.
    assert not re.search("[\r\b]|\x1b(?!\\[[\\d;]*m)", in_pieces.getvalue())


@given(
    st.lists(st.tuples(WORD, st.sampled_from(["", "**", "`"])), min_size=1, max_size=60),
    st.integers(21, 60),
    st.integers(1, 200),
)
def test_rows_are_as_long_as_their_words_allow(
    words: list[tuple[str, str]], columns: int, size: int
) -> None:
    text = " ".join(f"{sign}{word}{sign}" for word, sign in words)
    plain = " ".join(word for word, _ in words)
    rows = textwrap.wrap(plain, columns - 1, break_long_words=False, break_on_hyphens=False)
    assert drawn(block(0, "text", text, size=size), Terminal(), width=columns).splitlines() == rows


def test_a_word_as_wide_as_a_row_is_whole() -> None:
    for text in ("one " + "w" * 29, "one " + "w" * 29 + " two"):
        shown = drawn(block(0, "text", text), Terminal(), width=30).split()
        assert shown == text.split()


@given(
    st.lists(st.lists(st.lists(WORD, max_size=9), min_size=3, max_size=3), min_size=1, max_size=5),
    st.integers(50, 100),
)
def test_a_table_fits_and_its_words_are_whole(rows: list[list[list[str]]], columns: int) -> None:
    lines = ["| " + " | ".join(map(" ".join, row)) + " |" for row in rows]
    text = "\n".join([lines[0], "|---|---|---|", *lines[1:]])
    shown = drawn(block(0, "text", text), Terminal(), width=columns)
    assert sorted(re.findall(r"\w+", shown)) == sorted(re.findall(r"\w+", text))
    assert all(cell_len(row) < columns for row in shown.splitlines())


def test_a_delta_is_written_at_once() -> None:
    written: list[str] = []

    class Counted(Terminal):
        def write(self, text: str, /) -> int:
            written.extend([text] * bool(text))
            return io.StringIO.write(self, text)

    text = "Some **strong** words and `code` in it, over more than a row.\n\n- an item\n- two\n" * 3
    events = block(0, "text", text, size=len(text))
    drawn(events, Counted(), width=40)
    assert len(written) == 1


def test_characters_that_are_counted_as_one_cell_take_one() -> None:
    narrow = [chr(code) for code in range(0x3000) if is_narrow(chr(code))]
    assert [sign for sign in narrow if cell_len(sign) != 1] == []
    assert [sign for sign in narrow if sign.isspace()] == [" "]
