"""Which answers to a question grant: on both engines, whatever the options are."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import MARKS
from amplifier_core.models import HookResult

GRANT = (
    "accept", "allow", "allow always", "allow once", "approve", "confirm", "continue", "grant",
    "ok", "okay", "proceed", "y", "yes",
)  # fmt: skip
DENY = (
    "deny", "no", "n", "never", "cancel", "skip", "run", "nein", "ja", "non", "oui", "later", "",
    "don't allow", "do not allow", "allow nothing", "allow none", "not yes", "no, allow", "disallow",
    "dis-allow", "un\u200ballow", "yes and no", "allow if not", "allow?no", "deny, not allow", "1",
    "\u0430llow", "\uff41\uff4c\uff4c\uff4f\uff57", "\u0251llow", "\u0443es", "o\u212a", "ye\u017f", "a\u0336l\u0336low", "allow\u0338",
    "\u202eallow", "al\u00adlow", "\x1b[8mallow", "allow\n", "allow  once", "allow twice", "ok't",
    "true", "none", "0", "不允许", "允许", "д\u0430", "نعم",
)  # fmt: skip
MARK = st.sampled_from(
    ["", " ", "  ", "1. ", "2) ", "(3) ", "[", "]", "(", ")", "{", "}", "<", ">", "«", "»", "【", "】",
     "✅ ", "✔️", "☑ ", "👍🏽 ", "🟢", "▶ ", "→ ", "• ", "- ", "* ", "**", "`", '"', "“", "”", "1️⃣ ", "① ",
     "\uff11\uff0e", ": ", ". ", "\xa0", "\u3000", "_", "#4 ", "🚀"]
)  # fmt: skip
NEGATION = st.sampled_from(
    [
        "❌ ",
        "✗ ",
        "✘",
        "✖️ ",
        "☒ ",
        "⛔ ",
        "🚫",
        "👎 ",
        "🛑 ",
        "¬",
        "!",
        "~",
        "≠ ",
        "\u20e0",
        "🇳🇴 ",
        "🆖 ",
    ]
)
CASE = st.sampled_from([str, str.upper, str.title])


@st.composite
def options(draw: Any, words: tuple[str, ...]) -> str:
    around = [draw(st.lists(MARK, max_size=2)) for _ in range(2)]
    word = draw(st.sampled_from(words))
    # In upper case the long s is an ordinary one.
    return "".join(around[0]) + (draw(CASE)(word) if word.isascii() else word) + "".join(around[1])


GRANTING, DENYING = options(GRANT), options(DENY)


def is_granted(engine: Any, offered: list[str], answer: str) -> bool:
    approval = SimpleNamespace(request_approval=lambda *_: answer)
    question = HookResult(action="ask_user", approval_options=offered)
    coordinator = engine.ModuleCoordinator(None, approval)
    with pytest.raises(StopIteration) as done:
        # Nothing is awaited, so no loop is needed.
        coordinator.process_hook_result(question, "tool:pre").send(None)
    assert done.value.value.action in ("continue", "deny")
    return done.value.value.action == "continue"


ANY = st.tuples(GRANTING, st.just(True)) | st.tuples(DENYING, st.just(False))


# Holds: differ-50, differ-51
@given(st.lists(ANY, min_size=1, max_size=6), st.data())
def test_an_option_grants_if_it_is_a_known_word_of_consent(
    engine, offered: list[tuple[str, bool]], data: st.DataObject
) -> None:
    picked, grants = data.draw(st.sampled_from(offered))
    assert is_granted(engine, [option for option, _ in offered], picked) is grants


@given(GRANTING, st.lists(DENYING, max_size=3), st.booleans())
def test_marks_around_a_word_of_consent_do_not_matter(
    engine, word: str, others: list[str], is_first: bool
) -> None:
    assert is_granted(engine, [word, *others] if is_first else [*others, word], word)


@given(DENYING, st.lists(GRANTING, max_size=3))
def test_what_is_no_known_word_of_consent_denies_wherever_it_is(
    engine, word: str, others: list[str]
) -> None:
    assert not is_granted(engine, [word, *others], word)
    assert not is_granted(engine, [*others, word], word)


@given(NEGATION, GRANTING)
def test_a_mark_of_negation_denies(engine, mark: str, word: str) -> None:
    assert not is_granted(engine, [mark + word, word], mark + word)


@given(st.text(max_size=12).filter(lambda text: text.isprintable()), st.lists(GRANTING))
def test_an_answer_that_was_not_offered_denies(engine, answer: str, offered: list[str]) -> None:
    known = {"allow", "allow once", "allow always"} | {option.lower() for option in offered}
    if answer.lower() not in known:
        assert not is_granted(engine, offered, answer)


@given(st.text(st.characters(codec="utf-8"), max_size=8), GRANTING, st.data())
def test_both_engines_read_any_option_alike(
    engines, other: str, word: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(word)))
    answer = word[:place] + other + word[place:]
    rust, python = (is_granted(engine, [answer, "Deny"], answer) for engine in engines)
    assert rust is python


EDGES = [code for first, last in MARKS for code in (first - 1, first, last, last + 1)]


def test_both_engines_know_the_same_marks(engines) -> None:
    for code in EDGES:
        answer = f"{chr(code)}Yes"
        rust, python = (is_granted(engine, [answer], answer) for engine in engines)
        assert rust is python, hex(code)


@pytest.mark.parametrize(
    ("offered", "grants"),
    [
        (["❌ Deny", "✅ Allow"], [False, True]),
        (["[Deny]", "[Allow]"], [False, True]),
        (["1. Deny", "2. Allow"], [False, True]),
        (["Skip", "Run"], [False, False]),
        (["Nein", "Ja"], [False, False]),
        (["Allow once", "Allow always", "Deny"], [True, True, False]),
        (["Allow", "Allow"], [True, True]),
    ],
)
def test_the_place_of_an_option_does_not_matter(engine, offered, grants) -> None:
    assert [is_granted(engine, offered, each) for each in offered] == grants


class Sneaky(str):
    """Text that says it is something else."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "Allow"

    def lower(self) -> str:
        return "allow"

    translate = casefold = strip = lstrip = lower  # type: ignore[assignment] -- hostile

    __hash__ = str.__hash__


class Agreeable:
    """An object that equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "Allow"

    __hash__ = object.__hash__


def test_text_is_read_as_what_it_holds(engine) -> None:
    assert not is_granted(engine, ["Allow", "Deny"], Sneaky("Deny"))
    assert not is_granted(engine, ["Allow", "Deny"], Sneaky("perhaps"))


@pytest.mark.parametrize("answer", [None, True, 1, b"Allow", ["Allow"], Agreeable()])
def test_what_is_not_text_is_no_answer(engine, answer: Any) -> None:
    with pytest.raises(TypeError, match="must answer with one of its options as a str"):
        is_granted(engine, ["Allow", "Deny"], answer)


async def test_a_list_in_which_nothing_can_grant_is_warned_of(engine, caplog) -> None:
    approval = SimpleNamespace(request_approval=lambda *_: "Ja")
    question = HookResult(action="ask_user", approval_options=["Nein", "Ja"])
    caplog.set_level(logging.WARNING, "amplifier_core.coordinator")
    await engine.ModuleCoordinator(None, approval).process_hook_result(question, "e", "h")
    assert [record.getMessage() for record in caplog.records] == [
        "none of the options `Nein`, `Ja` of hook `h` is a known word of consent; each denies"
    ]
