"""Lines that may be meant as commands, and commands that are not understood."""

from __future__ import annotations

import pytest

from amplifier_app.commands.chat.command_table import CommandTable
from amplifier_app.commands.chat.meant_words import find_meant
from amplifier_app.commands.chat.slash_commands import SlashCommand, slash_command
from amplifier_app.failure import Failure


# Holds: command-171
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("undo", "did you mean `/undo`?"),
        (" Resum ", "did you mean `/resume`?"),
        ("sessions", "did you mean `/resume`?"),
        ("session", "did you mean `/resume`?"),
        ("permisions", "did you mean `/permissions`?"),
        ("usage", "did you mean `/cost`?"),
        ("agents", "sub-agents are described in `.claude/agents`"),
        *((each, "") for each in ("continue", "yes", "clean", "test", "go on", "undo it", "plan")),
    ],
)
def test_a_word_that_may_be_a_command_is_no_prompt_at_once(line: str, meant: str) -> None:
    assert find_meant(line, CommandTable(None).list_own()) == meant


# Holds: command-171
def test_what_is_no_command_is_one_line_with_what_may_be_meant() -> None:
    def read(line: str) -> str:
        typed = slash_command(line)
        assert typed is not None
        try:
            return CommandTable(None).read(typed).name
        except Failure as failure:
            return f"{failure}; {failure.hint}"

    lines = ("/exit", "exit", ":q", "?", "/quti", "/nope", "/new", "/re", "/cost all", "/model x")
    assert {line: read(line) for line in lines} == {
        "/exit": "/quit",
        "exit": "/quit",
        ":q": "/quit",
        "?": "/help",
        "/quti": "there is no command `/quti`; did you mean `/quit`?",
        "/nope": "there is no command `/nope`; `/help` shows them",
        "/new": "there is no command `/new`; did you mean `/clear`?",
        "/re": "there is no command `/re`; did you mean `/resume` or `/rewind` or `/rename`?",
        "/cost all": "`/cost` takes nothing; `/help cost` says more",
        "/model x": "/model",
    }
    assert slash_command("/etc/hosts") is None
    assert SlashCommand("/undo") == slash_command("/undo")
