"""What passes as the words of a program has no other effect where a shell runs the line itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell_builtins import SHELLS, builtins_of, find_acting_lines, make_lines, passing

from amplifier_guard import ShellDenied, ShellPolicy

POLICY = ShellPolicy(["printf", "test", "echo", "make", "git log", "cat"])


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("printf -v 'a[$(id>PWNED)]' x", "-v"),
        ("printf -va x", "-va"),
        ("printf -- %d 5", "--"),
        ("printf %d 'a[$(id)]'", "a[$(id)]"),
        ("printf '%s %d' a 'a[$(id)]'", "a[$(id)]"),
        ("printf '%s %d' a 5 b 'a[$(id)]'", "a[$(id)]"),
        ("printf '%*s' 'a[$(id)]' x", "a[$(id)]"),
        ("printf %d PATH=5", "PATH=5"),
        ("printf %x API_KEY", "API_KEY"),
        ("printf %n PATH", "%n"),
        ("printf '%(%F)T' 'a[$(id)]'", "%(%F)T"),
        ("printf '%1$d' 'a[$(id)]'", "%1$d"),
        ("printf '\\u0025d' 'a[$(id)]'", "\\u0025d"),
        ("test 'a[$(id)]' -eq 0", "a[$(id)]"),
        ("test -n x -a 0 -lt 'a[`id`]'", "a[`id`]"),
        ("test PATH=5 -eq 5", "PATH=5"),
        ("test -t 'PATH[$(id)]'", "PATH[$(id)]"),
        ("test -n x -a -t PATH", "PATH"),
        ("make -j", "-j"),
        ("make --jobs", "--jobs"),
        ("make -kj", "-kj"),
    ],
)
def test_a_word_that_a_shell_evaluates_asks(line: str, word: str) -> None:
    with pytest.raises(ShellDenied) as raised:
        POLICY.check(line)
    assert str(raised.value) == f"`{word}` is not known to be harmless for `{line.split()[0]}`"


@pytest.mark.parametrize(
    "line",
    [
        "printf '%05d\\n' 42",
        "printf '%s\\n' 'a[0]' '$HOME'",
        "printf '%-10s %3d%%\\n' total -7 rest +3",
        "printf '\\033[1m%s\\033[0m' bold",
        "printf '%s %d\\n'",
        "printf done",
        "test 5 -gt 3",
        "test -t 1",
        "test 'a[0]' = '$x' -a -f README.md",
        "echo 'a[$(not run)]' -n %d",
        "make -j4",
        "make -j 4 -k",
        "make --jobs=8",
    ],
)
def test_words_that_are_text_or_numbers_to_every_shell_pass(line: str) -> None:
    assert POLICY.check(line)


@pytest.mark.parametrize("line", ["cat =ls", "git log =vim", "cat a =b"])
def test_a_word_that_zsh_takes_for_a_program_asks(line: str) -> None:
    with pytest.raises(ShellDenied, match="the command is not plain: an expansion `=`"):
        POLICY.check(line)
    assert POLICY.check("test a = b")


# Holds: sink-15
@pytest.mark.parametrize("shell", SHELLS)
def test_no_builtin_that_passes_acts_in_a_shell(shell: str, tmp_path: Path) -> None:
    names, mark = builtins_of(shell), tmp_path / "mark"
    lines = make_lines(names, 300, mark, seed=1)
    allowed = passing(lines, tmp_path)
    assert {line.split()[0] for line in allowed} >= {"printf", "test", "echo"} & names
    assert find_acting_lines(shell, allowed, tmp_path, mark) == []


@pytest.mark.parametrize("shell", sorted({"bash", "zsh", "ksh"} & set(SHELLS)))
def test_lines_that_ask_do_act_in_a_shell(shell: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    evil = f"a[$(: > {mark})]"
    lines = {
        "bash": [f"printf -v '{evil}' x", f"test -v '{evil}'"],
        "zsh": [
            f"printf %d 'PATH[$(: > {mark})]'",
            "printf %d PATH=5",
            f"printf -v '{evil}' x",
            f"test -t 'PATH[$(id>{mark})]'",
        ],
        "ksh": ["test PATH=5 -eq 5", "printf %d PATH=5"],
    }[shell]
    assert passing(lines, tmp_path) == []
    assert find_acting_lines(shell, lines, tmp_path, mark) == lines
