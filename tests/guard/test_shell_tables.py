"""Commands made from the tables of programs are judged as a slow second reading of the tables does."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st
from shell_tables import BAD, GOOD, LISTED, ROOT, Table, Undecided, is_kind, passes, read_tables

from amplifier_guard import ShellDenied, ShellPolicy

TABLES = read_tables()
PROGRAMS = sorted(name for name in TABLES if not name.startswith("@"))
POLICY = ShellPolicy([*PROGRAMS, *LISTED], root=ROOT)
ANY_WORD = st.sampled_from(sorted({word for words in (GOOD | BAD).values() for word in words}))


def check(argv: list[str]) -> bool:
    try:
        return POLICY.check(shlex.join(argv)) == argv
    except ShellDenied:
        return False


def word_of(kind: str) -> st.SearchStrategy[str]:
    """A word of a kind, now and then one that is not."""
    alternative = st.sampled_from(kind.split("|"))

    def fill(alternative: str) -> st.SearchStrategy[str]:
        base = next((name for name in [*GOOD, "PATTERN"] if alternative.endswith(name)), "")
        name = base.replace("PATTERN", "TEXT")
        words = GOOD.get(name, [""]) * 4 + BAD.get(name, [])
        return st.sampled_from(words).map(lambda word: alternative.removesuffix(base) + word)

    return alternative.flatmap(fill)


@st.composite
def option(draw: st.DrawFn, table: Table) -> list[str]:
    """An option in one of its forms, or something like it."""
    if not table.options or draw(st.integers(0, 9)) == 0:
        return draw(
            st.sampled_from(
                [["--"], ["-5"], ["-"], ["-Q9"], ["--no-such"], ["-="], ["--="], ["-é"]]
            )
        )
    short = [name for name in table.options if len(name) == 2]
    if short and draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(short), min_size=1, max_size=4))
        word = "-" + "".join(name[1] for name in names)
        kinds = table.options[names[-1]].kinds
    else:
        word = draw(st.sampled_from(sorted(table.options)))
        kinds = table.options[word].kinds
        if len(word) > 3 and draw(st.integers(0, 7)) == 0:
            word = word[: draw(st.integers(2, len(word) - 1))]
    values = [draw(word_of(kind)) for kind in kinds]
    form = draw(st.sampled_from(["next", "next", "=", "joined", "missing"]))
    if form == "next" or not values:
        return [word, *values]
    return (
        [word]
        if form == "missing"
        else [word + ("=" if form == "=" else "") + values[0], *values[1:]]
    )


@st.composite
def commands(draw: st.DrawFn, programs: list[str] = PROGRAMS) -> list[str]:
    """A program and words that its table knows, in any order, among others that it does not."""
    program = draw(st.sampled_from(programs))
    argv, table = [program], TABLES[program]
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.integers(0, 9))
        if table.commands and kind < 5:
            word = draw(st.sampled_from(sorted(table.commands)))
            argv.append(word)
            table = table.commands[word]
        elif kind < 7:
            argv += draw(option(table))
        elif table.operands and kind < 9:
            kinds = [each.removesuffix("*") for each in table.operands]
            argv.append(draw(word_of(draw(st.sampled_from(kinds)))))
        else:
            argv.append(draw(ANY_WORD))
    return argv


# Holds: sink-11
@settings(max_examples=20 * settings().max_examples, deadline=None)
@given(commands())
@example(["git", "grep", "-GOid", "root"])
@example(["tar", "tfI", "a.tar", "./evil"])
@example(["sed", "-n", "--line-length", "1p", "e id"])
@example(["grep", "a", "-f", "/etc/passwd"])
@example(["pytest", "-k", "-pevil"])
def test_a_command_passes_exactly_if_every_word_is_known(argv: list[str]) -> None:
    whole_line = len(argv) > 1 and shlex.join(argv) in LISTED
    try:
        expected = passes(argv) or whole_line
    except Undecided:
        reject()
    assert check(argv) == expected


@pytest.mark.parametrize("kind", GOOD)
def test_words_of_a_kind_pass_and_others_do_not(kind: str) -> None:
    listed = ["make"]
    assert [word for word in GOOD[kind] if not is_kind(word, kind, listed)] == []
    assert [word for word in BAD[kind] if is_kind(word, kind, listed)] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_option_may_be_cut_short(name: str) -> None:
    def options(table: Table, before: list[str]) -> list[tuple[list[str], str]]:
        own = [(before, each) for each in table.options if each.startswith("--")]
        return own + [
            pair
            for word, command in table.commands.items()
            if word not in before
            for pair in options(command, [*before, word])
        ]

    def known(before: list[str]) -> set[str]:
        table = TABLES[name]
        for word in before:
            table = table.commands[word]
        return set(table.options) | set(table.commands)

    short = [
        argv
        for before, word in options(TABLES[name], [])
        if (cut := word[:-1]) not in known(before) and cut != "--"
        if TABLES[name].style != "text" and check(argv := [name, *before, cut])
    ]
    assert short == []
