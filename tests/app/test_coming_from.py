"""The page for those who come from another command: what its right column names is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
from prompt_toolkit.key_binding.defaults import load_key_bindings
from prompt_toolkit.keys import KEY_ALIASES

from amplifier_app.attached.pasted_images import PastedImages
from amplifier_app.command_line import amplifier_core
from amplifier_app.commands.chat.command_table import CommandTable
from amplifier_app.commands.chat.meant_words import WORDS_OF_OTHERS
from amplifier_app.commands.chat.slash_commands import slash_command
from amplifier_app.commands.meant_commands import (
    COMMANDS_OF_OTHERS,
    OPTIONS_OF_OTHERS,
    SUBCOMMANDS_OF_OTHERS,
)
from amplifier_app.line_input.editing_keys import EditingKeys

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from-cli.md").read_text()
ROW = re.compile(r"^\| (?!---|there \||file \|)(.*?) \| (.*?) \|", re.MULTILINE)
CODE = re.compile(r"``? ?([^`]+?) ?``?")
OPTION = re.compile(r"(?<!\S)(--?[A-Za-z][\w-]*)")
KEY = re.compile(r"(?:Ctrl|Shift|Alt)\+\w+|\b(?:Esc|Tab|Up|Down|Enter)\b")
SAME = ("the same", "[the same]")


def list_rows() -> list[tuple[str, str]]:
    """Return what is there and what is here, in each row."""
    return [(found[1], found[2]) for found in ROW.finditer(PAGE)]


def list_ours() -> Iterator[str]:
    """Yield what is ours in each row: with what is there, where that is the same."""
    for there, here in list_rows():
        if not here.startswith("\N{EN DASH}"):
            yield f"{there} {here}" if here.startswith(SAME) else here


def find_command(words: list[str]) -> click.Command | None:
    """Return the command that words begin with; `run` where they name none."""
    context = click.Context(amplifier_core)
    found = amplifier_core.get_command(context, words[0]) if words else None
    if isinstance(found, click.Group) and len(words) > 1:
        return found.get_command(context, words[1])
    return found or amplifier_core.commands["run"]


def list_options(command: click.Command) -> set[str]:
    return {"--help", "--version", *(name for each in command.params for name in each.opts)}


def name_key(written: str) -> tuple[str, ...]:
    """Return what the library calls a key."""
    *held, key = written.lower().split("+")
    if held == ["alt"]:
        return "escape", *name_key(key)
    name = {"esc": "escape", "enter": "c-m"}.get(key, key)
    name = f"{'c-' * ('ctrl' in held)}{'s-' * ('shift' in held)}{name}"
    return (KEY_ALIASES.get(name, name),)


def list_missing(row: str) -> Iterator[str]:
    """Yield what of ours a text names that is not there: commands and options."""
    for code in CODE.findall(row):
        if "the same" in row and code.split(" ")[0] in ("claude", "codex", "goose", "amplifier"):
            continue
        is_command = code.startswith("amplifier-core ")
        words = re.findall(r"(?<!\S)[a-z][a-z-]+(?!\S)", code.removeprefix("amplifier-core"))
        command = find_command(words if is_command else [])
        if command is None or (is_command and command.name == "run" and words):
            yield code
        elif is_command or code.startswith("-"):
            yield from (each for each in OPTION.findall(code) if each not in list_options(command))


# Holds: command-172
def test_each_command_and_option_that_is_ours_is_there() -> None:
    hints = [
        *COMMANDS_OF_OTHERS.values(),
        *SUBCOMMANDS_OF_OTHERS.values(),
        *OPTIONS_OF_OTHERS.values(),
        *WORDS_OF_OTHERS.values(),
    ]
    assert [missing for row in (*list_ours(), *hints) for missing in list_missing(row)] == []


# Holds: command-172
def test_each_slash_command_that_is_ours_is_there() -> None:
    table, missing = CommandTable(None).list_own(), list[str]()
    for row in list_ours():
        for code in CODE.findall(row):
            typed = slash_command(code)
            is_ours = typed is None or typed.name in (*table, "/name", "/mcp__server__prompt")
            missing += [] if is_ours else [code]
    assert missing == []
    assert sorted(f"/{each}" for each in WORDS_OF_OTHERS if f"/{each}" in table) == []


# Holds: command-172
def test_each_key_that_is_ours_is_bound() -> None:
    editor: Any = SimpleNamespace(has_queued=False, is_lent=False)
    completer: Any = None
    bindings = [
        *load_key_bindings().bindings,
        *EditingKeys(editor, completer, PastedImages()).bind().bindings,
    ]
    bound = {tuple(str(getattr(each, "value", each)) for each in b.keys) for b in bindings}
    keys = {each for row in list_ours() for each in KEY.findall(CODE.sub("", row))}

    assert {"Ctrl+R", "Shift+Tab", "Alt+Enter"} <= keys
    assert sorted(each for each in keys if name_key(each) not in bound) == []


# Holds: command-172
def test_no_option_of_ours_is_said_to_be_of_others() -> None:
    assert sorted(list_options(amplifier_core.commands["run"]) & OPTIONS_OF_OTHERS.keys()) == []
