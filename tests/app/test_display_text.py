"""What the display draws of a text: Markdown, tables, wrapped words."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from drawn_events import Pipe, Terminal, block, call, drawn, environment, result

__all__ = ["environment"]


def test_a_table_is_drawn_as_a_table() -> None:
    text = "| language | files |\n|---|---:|\n| Python | 12 |\n| Rust | **3** |\n\nDone.\n"
    shown = drawn(block(0, "text", text), Terminal())
    assert [line.rstrip() for line in shown.splitlines()] == [
        "language   files",
        "────────────────",
        "Python        12",
        "Rust           3",
        "",
        "Done.",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `code` b", "a code b"),
        ("``one ` tick``, `` `two` ``", "one ` tick, `two`"),
        ("**strong `code`** and *some*", "strong code and some"),
        ("2 * 3 * 4 and a_b_c and **open", "2 * 3 * 4 and a_b_c and **open"),
        ("``never closed", "``never closed"),
        (r"\*not\* emphasis in C:\dir", r"*not* emphasis in C:\dir"),
        ("#hashtag, #1", "#hashtag, #1"),
        ("# A title", "A title"),
        ("> quoted", "▎ quoted"),
        ("* one\n  2. two", "• one\n  2. two"),
        ("```py\n*a*  `b`\n```", "py\n  *a*  `b`"),
        ("~~~\n```\n~~~", "  ```"),
        ("| no | table |", "| no | table |"),
        ("one\n\n\n\ntwo", "one\n\ntwo"),
        ("***", "─" * 20),
        ("> ```py\n> a\n>\n>  b\n> ```\n> c", "▎ py\n▎   a\n▎ \n▎    b\n▎ c"),
        ("> ~~~\n> a\nb", "▎   a\nb"),
    ],
)
def test_markdown(text: str, shown: str) -> None:
    assert drawn(block(0, "text", text), Terminal()) == f"{shown}\n"


UNTRUSTED = st.text(
    st.characters(categories=["L", "M", "Nd", "P", "Zs", "Cc", "Cs", "Cf"], max_codepoint=0x2100)
    | st.sampled_from("\x1b\x9b\x07\r\u200b\u200d\u202e\u2066\u2028\ud800\ufeff\U000e0041*`|#->\n")
)


@given(UNTRUSTED, st.integers(1, 7), st.sampled_from([Terminal, Pipe]))
def test_nothing_from_outside_controls_the_terminal(text: str, size: int, kind: Any) -> None:
    events = [
        *block(0, "thinking", text, size=size),
        *block(1, "text", text, size=size),
        call("a", text, {text: text}),
        result("a", text, {text: [text], "other": text}),
        call("b", text, {}),
        result("b", text, None, text),
        ("user:notification", {"message": text, "source": text}),
    ]
    shown = drawn(events, kind())
    tab = "\t" if kind is Pipe else ""
    assert not re.search(f"[^\n{tab} -~\xa0-\U0010ffff]", shown)
    assert not re.search(
        "[\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0041]",
        shown,
    )


def test_what_joins_is_shown_whole_however_it_was_cut() -> None:
    text = "👩\u200d🚀 می\u200cخواهم \tx"  # noqa: RUF001
    for size in (1, 2, 3):
        assert drawn(block(0, "text", text, size=size), Pipe()) == f"{text}\n"
    assert drawn(block(0, "text", text, size=1), Terminal()) == f"{text}\n".replace("\t", "    ")
    assert drawn(block(0, "text", "end\u200d\r", size=1), Pipe()) == "end\\u{200d}\\r\n"


@given(st.text(st.sampled_from("ab *`|#->_\\\n1.[]~"), max_size=80), st.data())
def test_cutting_a_text_differently_draws_the_same(text: str, data: st.DataObject) -> None:
    whole = drawn(block(0, "text", text, size=max(1, len(text))), Terminal())
    size = data.draw(st.integers(1, 5))
    assert drawn(block(0, "text", text, size=size), Terminal()) == whole


@given(st.text(st.sampled_from("abcde 日本\n"), max_size=200), st.integers(21, 40))
def test_wrapping_loses_no_character_and_fits(text: str, width: int) -> None:
    from rich.cells import cell_len

    shown = drawn(block(0, "thinking", text), Terminal(), width=width)
    inside = [line[2:] for line in shown.splitlines()[1:]]
    assert all(cell_len(line) < width for line in shown.splitlines())
    assert "".join("".join(inside).split()) == "".join(text.split())


def test_a_terminal_without_unicode_gets_ascii() -> None:
    class Ascii(Pipe):
        encoding = "ascii"

    shown = drawn(
        [*block(0, "thinking", "so"), call("a", "ls", {}), result("a", "ls", "x")], Ascii()
    )
    assert shown == "thinking\n| so\n\n* 1 ls()\n  ok 1 ls: x\n"


def test_thinking_longer_than_any_screen_is_whole() -> None:
    words = [f"thought{number}" for number in range(5_000)]
    shown = drawn(block(0, "thinking", " ".join(words), size=100), Terminal())
    assert re.findall(r"thought\d+", shown) == words
