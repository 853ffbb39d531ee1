"""Questions show exactly what they are about, and nothing in them looks like the question."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard.question import AsIs, question_rows, quote_value

TRICKY = st.text(
    st.sampled_from(
        list(' ` "\\\n\t\r$a1é漢\u0435|:>⟨⟩*+\u00a0\u202e\u200b\u0301\ud800\U0001f600\x1b[')
    ),
    max_size=60,
)
SCRIPTS = st.lists(
    st.sampled_from(
        ["жук", "файл", "\u0440\u0430\u0443\u0440\u0430", "paypa", "λόγος", "\u03bf", "\u043e", "o", "ж", "1", "_", " ", ".", "\n",
         "\u0301", "é", "漢", "שלום", "سلام", "नमस्ते"]
    ),
    max_size=6,
).map("".join)  # fmt: skip
TEXT = TRICKY | SCRIPTS | st.text(max_size=60) | st.builds(" ".__mul__, st.integers(0, 200))
VALUES = st.recursive(
    TEXT | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
COLUMNS = st.integers(20, 100)
MARK = "bcdf"


def exactly(value: object) -> str:
    """A form in which `1`, `1.0` and `True` differ, as they do in JSON."""
    return repr(value)


@given(TEXT)
def test_quoted_text_can_be_read_back(text: str) -> None:
    shown = quote_value(text)

    plain = re.fullmatch("`([^`]*)`", shown)
    assert (plain[1] if plain else eval(shown, {"__builtins__": {}})) == text
    assert "\n" not in shown
    assert "  " not in shown


@given(VALUES, VALUES)
def test_values_that_differ_are_quoted_differently(one: object, other: object) -> None:
    assert (quote_value(one) == quote_value(other)) is (exactly(one) == exactly(other))


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=3), st.data())
def test_a_change_of_one_argument_is_seen(
    arguments: dict[str, object], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(arguments)))
    changed = arguments | {name: data.draw(VALUES)}
    assert (quote_value(arguments) == quote_value(changed)) is (
        exactly(arguments) == exactly(changed)
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("git push", "`git push`"),
        ("", '""'),
        ("a`b", '"a`b"'),
        ("ls" + 40 * " " + "x", '"ls" + 40 * " " + "x"'),
        ("\n\n", '2 * "\\n"'),
        (r"grep '\bx'", r"`grep '\bx'`"),
        ("Änderung für 漢字", '"Änderung für 漢字"'),
        ("\u0440\u0430\u0443\u0440\u0430l", r'"\u0440\u0430\u0443\u0440\u0430l"'),
        ("cat отчёт.txt Файлы/жук", '"cat отчёт.txt Файлы/жук"'),
        ("ls λογισμός", '"ls λογισμός"'),
        ("ж1 xж \u0440\u0430 ж\u0301", r'"\u04361 x\u0436 \u0440\u0430 ж\u0301"'),
        ("אב سلام नम", r'"\u05d0\u05d1 \u0633\u0644\u0627\u0645 \u0928\u092e"'),
        ({"a": [1, True, None, "1"]}, "{`a`: [1, true, null, `1`]}"),
    ],
)
def test_what_is_plain_stays_legible(value: object, shown: str) -> None:
    assert quote_value(value) == shown


def test_what_json_has_no_form_for_is_not_shown() -> None:
    for value in (float("nan"), float("inf"), b"x", object(), {1: "a"}, {"a": {None: 1}}, 10**5000):
        with pytest.raises((TypeError, ValueError)):
            quote_value(value)


def test_values_without_an_end_are_not_shown() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        quote_value(deep)


def cells(row: str) -> int:
    return sum(1 if character.isascii() else 2 for character in row)


@given(TEXT, COLUMNS)
def test_every_row_has_the_mark_and_fits_into_the_terminal(text: str, columns: int) -> None:
    rows = question_rows([text], MARK, columns)

    assert rows[0].startswith(f"{MARK}| ")
    assert all(re.match(rf"{MARK}[|:] ", row) for row in rows)
    assert max(map(cells, rows)) < columns
    assert not any(re.search(r"[^ -~\xc0-\xff⟨⟩\u0386-\u0491\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3]", row) for row in rows)  # fmt: skip
    assert not any(re.search(r"[^|:+ -] {3}", row) for row in rows)


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=40), st.integers(34, 120))
def test_no_short_word_is_broken(words: list[str], columns: int) -> None:
    rows = [row[6:].removesuffix("\\") for row in question_rows([" ".join(words)], MARK, columns)]
    assert "".join(rows).split() == words
    assert [word for row in rows for word in row.split()] == words


@given(TEXT, TEXT, COLUMNS)
def test_questions_that_differ_have_different_rows(one: str, other: str, columns: int) -> None:
    same = question_rows([one], MARK, columns) == question_rows([other], MARK, columns)
    assert same is (one == other)


@given(TEXT, st.integers(0, 60), TRICKY, COLUMNS)
def test_questions_that_differ_in_one_place_have_different_rows(
    text: str, place: int, inserted: str, columns: int
) -> None:
    other = text[:place] + inserted + text[place:]
    # As they are seen: blanks at the end of a row are not.
    one, two = (
        [row.rstrip() for row in question_rows([each], MARK, columns)] for each in (text, other)
    )
    assert (one == two) is (text == other)


LOOK_ALIKE = str.maketrans(
    "аеосрухіАВЕКМНОРСТХІοινκαυραΑΒΕΖΗΙΚΜΝΟΡΤΥΧёїόίύ",
    "aeocpyxiABEKMHOPCTXIoivkaupaABEZHIKMNOPTYXëïóíú",
)


@given(SCRIPTS, SCRIPTS)
def test_texts_that_differ_only_in_letters_that_look_alike_have_different_rows(
    one: str, other: str
) -> None:
    seen = [
        [row.translate(LOOK_ALIKE) for row in question_rows([each], MARK, 80)]
        for each in (one, other, one.translate(LOOK_ALIKE))
    ]
    assert (seen[0] == seen[1]) is (one == other)
    assert (seen[0] == seen[2]) is (one == one.translate(LOOK_ALIKE))


def test_rows_look_like_this() -> None:
    question = [f"run `x{60 * ' '}{MARK}> allow`\n\nof ", AsIs("[API_KEY]"), " \u202e\t漢é"]
    assert question_rows(question, MARK, 40) == [
        "bcdf| run `x⟨60 blanks⟩bcdf> \\",
        "bcdf: allow`⟨2 line breaks⟩of \\",
        "bcdf: [API_KEY] ⟨U+202E⟩⟨1 tab⟩漢\\",
        "bcdf: é",
    ]


def test_the_lines_of_a_difference_are_indented_as_they_are() -> None:
    question = [
        f"put it?\n|   @@ -1 +1,2 @@\n|    one\n|   +    two  three\n   four\n{41 * ' '}five\n|   "
    ]
    assert question_rows(question, MARK, 60) == [
        "bcdf| put it?",
        "bcdf| |   @@ -1 +1,2 @@",
        "bcdf| |    one",
        "bcdf| |   +    two⟨2 blanks⟩three",
        "bcdf|    four",
        "bcdf| ⟨41 blanks⟩five",
        "bcdf| |⟨3 blanks⟩",
    ]


def test_a_terminal_that_is_too_narrow_is_refused() -> None:
    with pytest.raises(ValueError, match="needs more than 9 columns"):
        question_rows(["x"], MARK, 9)
