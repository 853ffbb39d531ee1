"""Which command lines `ShellPolicy` lets run, and what a child process gets to see."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_line import is_plain_line

from amplifier_guard import ShellDenied, ShellPolicy, child_environment, read_command

POLICY = ShellPolicy(["ls", "cat", "echo", "git log", "find"], root="/srv/proj")
PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126))


# `shlex` leaves the equals sign bare: in the first word it is an assignment, and zsh expands a word
# that begins with it.
@given(
    st.lists(PRINTABLE, min_size=1).filter(
        lambda words: (
            words[0]
            and not any("=" in word[: len(word) if word is words[0] else 1] for word in words)
        )
    )
)
def test_words_that_are_quoted_are_read_back(words: list[str]) -> None:
    assert read_command(shlex.join(words)) == words


# Holds: sink-17
@settings(max_examples=50, deadline=None)
@given(st.text("ab '\"\\$`;|&<>(){},*?[]~#=!.\n-", max_size=12))
def test_what_is_read_is_what_a_shell_reads(tail: str) -> None:
    try:
        words = read_command(f"printf '%s\\0' {tail} end")
    except ShellDenied:
        return
    shown = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\0' {tail} end"], capture_output=True, check=True
    )
    assert shown.stdout.decode().split("\0")[:-1] == words[2:]


def test_an_allowed_command_is_given_as_the_words_to_run() -> None:
    assert POLICY.check("git log --format='%h %s' -5") == ["git", "log", "--format=%h %s", "-5"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("ls; id", "the command is not plain: the separator `;` at byte 2"),
        ("rm x", "no allowed prefix matches this `rm` command"),
        ("find . -delete", "`-delete` is not known to be harmless for `find`"),
        ("cat ../x", "`../x` lies outside the project"),
        ("", "the command is empty"),
    ],
)
def test_a_refusal_says_why_a_person_must_be_asked(command: str, message: str) -> None:
    with pytest.raises(ShellDenied) as raised:
        POLICY.check(command)
    assert str(raised.value) == message


def test_the_commands_of_a_line_are_given_with_what_joins_them() -> None:
    assert POLICY.check_line("git log -5 | cat && echo 'a | b'") == [
        ("", ["git", "log", "-5"]),
        ("|", ["cat"]),
        ("&&", ["echo", "a | b"]),
    ]
    with pytest.raises(ShellDenied, match="no allowed prefix matches this `sh` command"):
        POLICY.check_line("cat x | sh")


def test_a_prefix_must_be_plain_itself() -> None:
    with pytest.raises(ValueError, match="invalid prefix: the command is not plain"):
        ShellPolicy(["ls; id"])


@given(st.text())
def test_no_text_is_anything_but_words_or_a_refusal(command: str) -> None:
    refusal = ""
    words: list[str] = []
    try:
        words = POLICY.check(command)
    except ShellDenied as error:
        refusal = str(error)
    assert bool(words) != bool(refusal)
    assert is_plain_line(refusal)


# Holds: sink-18
def test_a_child_sees_the_variables_that_are_allowed_and_no_secret() -> None:
    environ = {
        "PATH": "/bin", "LC_ALL": "C", "LC": "x", "HOME": "/home/me", "ANTHROPIC_API_KEY": "secret",
        "LD_PRELOAD": "x", "PYTHONPATH": "x", "BASH_ENV": "x", "GIT_SSH_COMMAND": "x", "MY_FLAG": "1",
    }  # fmt: skip
    assert child_environment(environ) == {"PATH": "/bin", "LC_ALL": "C", "HOME": "/home/me"}
    assert child_environment(environ, ["MY_*"]) == {"MY_FLAG": "1"}
    assert child_environment(environ, []) == {}


@pytest.mark.parametrize("name", ["*", "", "A*B", "A**"])
def test_the_whole_environment_cannot_be_allowed(name: str) -> None:
    with pytest.raises(ValueError, match="must be the name of a variable"):
        child_environment({}, [name])
