"""What reaches a terminal can neither act on it nor deceive who reads it."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard import TerminalText

BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NUMBER_SIGNS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Visible, though Unicode calls them formats."""
WHERE_THEY_MEAN_SOMETHING = (
    "\n\t\u180e\u200c\u200d\U000e0062\U000e0065\U000e0067\U000e006c\U000e006e\U000e0073\U000e0074"
    "\U000e0077\U000e007f"
)
ODD = st.sampled_from(
    "\0\x1b\r\n\t\\ 1#a\x7f\x9b\xad\u0301\u034f\u0628\u064b\u0915\u094d\u09b0\u1820\u180b\u180e"
    "\u200b\u200c\u200d\u202e\u2028\u20e3\u2764\u2800\u2801\u3164\u845b\ud83d\udc80\ufe0f\ufeff\uffff"
    "\U0001f3f4\U0001f3fb\U0001f469\U000e0067\U000e0062\U000e0065\U000e006e\U000e007f\U000e0100"
)
TEXTS = st.text(ODD | st.characters(categories=None), max_size=60)


def streamed(text: str | bytes, cuts: list[int]) -> str:
    places = sorted(cut % (len(text) + 1) for cut in cuts)
    stream = TerminalText()
    chunks = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    return "".join(map(stream.feed, chunks)) + stream.flush()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("safe\rrm -rf /", r"safe\rrm -rf /"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        (b"\x9b31m", r"\x9b31m"),
        ("\x9b31m", r"\u{9b}31m"),
        (bytearray(b"caf\xc3\xa9 \xff"), r"café \xff"),
        ("\ud83d alone", r"\u{d83d} alone"),
        ("\u202eabc\u2028\ufeff", r"\u{202e}abc\u{2028}\u{feff}"),
        ("\U000e0041\U000e0042", r"\u{e0041}\u{e0042}"),
        ("z" + "\u0301" * 32, "z" + "\u0301" * 30 + r"\u{301}" * 2),
    ],
)
def test_what_acts_or_hides_is_shown_escaped(text: str | bytes, shown: str) -> None:
    assert TerminalText.show(text) == shown


# Holds: sink-44
@pytest.mark.parametrize(
    "text",
    [
        "line1\nline2\ttab",
        r"\x1b[31m literal text",
        "a\u00a0b │ ├── src",
        "مرحبا بالعالم",
        "می\u200cخواهم",  # noqa: RUF001
        "क्\u200dष, क्\u200cष, र\u200d्य",
        "👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 ❤\ufe0f 1\ufe0f\u20e3 🇦🇹",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "葛\U000e0100飾区",
    ],
)
def test_legitimate_text_is_the_same_object(text: str) -> None:
    assert TerminalText.show(text) is text
    assert TerminalText.show(text.encode()) == text


# Holds: sink-42
@given(TEXTS)
def test_nothing_that_acts_or_hides_is_left(text: str) -> None:
    for character in TerminalText.show(text):
        assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} or (
            character in WHERE_THEY_MEAN_SOMETHING + NUMBER_SIGNS
        )
        assert character not in BIDIRECTIONAL


# Holds: sink-45
@given(TEXTS, st.integers(0, 100))
def test_what_was_shown_stays_when_it_is_shown_again(text: str, most: int) -> None:
    shown = TerminalText.show(text)
    assert TerminalText.show(shown) is shown
    line = TerminalText.line(text, most)
    assert len(line) <= most
    assert "\n" not in line
    assert TerminalText.line(line, most) == line


# Holds: sink-46
@given(TEXTS | st.binary(max_size=60), st.lists(st.integers(0), max_size=5))
def test_where_the_chunks_end_does_not_matter(text: str | bytes, cuts: list[int]) -> None:
    assert streamed(text, cuts) == TerminalText.show(text)


def test_a_flushed_stream_begins_anew() -> None:
    stream = TerminalText()
    assert stream.feed("👩\u200d") == "👩"
    assert stream.flush() == r"\u{200d}"
    assert stream.feed("\u200d🚀") == r"\u{200d}🚀"


def test_a_line_is_cut_between_visible_characters() -> None:
    assert TerminalText.line(" one\r\n\n\ttwo   three\n") == "one two three"
    assert TerminalText.line("abcdefg", 6) == "abcde…"
    assert TerminalText.line("abc\x1bd", 6) == "abc…"
    assert TerminalText.line("ab 👩\u200d🚀 and more", 6) == "ab …"


@given(TEXTS, st.integers(1, 100))
def test_the_line_of_a_long_text_is_that_of_its_beginning(text: str, most: int) -> None:
    filler = "ä" * 9000
    assert TerminalText.line(text + filler, most) == TerminalText.line(
        text + filler[: most + 1], most
    )
    parted = " " * 4095 + text + filler
    assert TerminalText.line(parted, most) == TerminalText.line(" " + text + filler, most)


# Holds: sink-47
@given(TEXTS, TEXTS)
def test_different_texts_have_different_exact_lines(one: str, other: str) -> None:
    assert (TerminalText.exact(one) == TerminalText.exact(other)) is (one == other)


def test_an_exact_line_keeps_blanks_and_escapes_what_escapes() -> None:
    assert TerminalText.exact("grep  '\\b'\n\x1b[m\r\n\t") == r"grep  '\\b'\n\x1b[m\r\n\t"


@pytest.mark.parametrize("method", [TerminalText.show, TerminalText.line, TerminalText.exact])
def test_what_is_no_text_is_refused_by_its_type(method: Any) -> None:
    with pytest.raises(TypeError, match="`text` must be `str` or `bytes`, found `int`"):
        method(1)
