"""The commands that a user or a project describes, each in a Markdown file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_guard import TerminalText

from ..running.user_folders import find_config_folder
from .frontmatter import Frontmatter, read_names, split_frontmatter
from .places import Origin, find_claude_folder, list_project_folders
from .shelves import Problems, Shelf, list_entries, list_shelves
from .written_text import WrittenTextError, escape_marks

PROJECT_COMMANDS = (".claude/commands",)
"""The folders of a project that hold them."""
_MAX_BYTES = 64 * 1024
_MAX_COMMANDS = 200
_MAX_DEPTH = 3
_MAX_FOLDERS = 64
"""The most folders of a user and of a project that are looked into."""
_MAX_CHARS = 200
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,63}")
_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9](?![0-9]))")
_BRACKETS = re.compile(r"^(argument-hint:)[ \t]*(\[.*)$", re.MULTILINE)
"""Claude Code has `[a] [b]` there, which is no YAML."""
_SHELL = re.compile(r"!`[^`\n]+`")


@dataclass(frozen=True)
class CommandFile:
    """A command, as its file describes it."""

    name: str
    """In lower case, those of folders before it and separated by colons."""
    description: str
    hint: str
    """What may follow the name."""
    origin: Origin
    """Whose word it is."""
    body: str
    allowed_tools: tuple[str, ...] | None = None
    """The tools that may be called; None for all."""
    has_model: bool = False
    """Whether it names a model."""

    def count_shell_commands(self) -> int:
        """Return how many commands for a shell are in it, which Claude Code would run."""
        return len(_SHELL.findall(self.body))

    def fill(self, argument: str, words: list[str]) -> str:
        """Return the text with what was typed after the name.

        Args:
            argument: All of it.
            words: Its words.
        """
        is_used = False

        def put(place: re.Match[str]) -> str:
            nonlocal is_used
            is_used = True
            if place[1] == "ARGUMENTS":
                return argument
            number = int(place[1])
            return words[number - 1] if number <= len(words) else ""

        text = _PLACE.sub(put, self.body)
        return text if is_used or not argument else f"{text}\n\nArguments: {argument}"


@dataclass
class FoundCommands:
    """What was found in all folders."""

    commands: dict[str, CommandFile] = field(default_factory=dict[str, CommandFile])
    problems: Problems = field(default_factory=Problems)


def find_command_files(working: Path, environment: Mapping[str, str]) -> FoundCommands:
    """Return the commands of a user and of a project; of one name, the user's and then the inner one.

    Args:
        working: The working folder.
        environment: The variables that name the folder of the configuration.

    Raises:
        OSError: The working folder cannot be opened.
    """
    found = FoundCommands()
    of_user = (find_config_folder(environment), find_claude_folder())
    folders = [each and each / "commands" for each in of_user]
    shelves = list_shelves(folders, list_project_folders(working), PROJECT_COMMANDS)
    _add_shelves(found, shelves, (), set())
    return found


def _add_shelves(
    found: FoundCommands, shelves: list[Shelf], names: tuple[str, ...], seen: set[str]
) -> None:
    for shelf, entry in list_entries(shelves, "commands", found.problems):
        if entry.endswith(".md"):
            _add_command(found, shelf, entry, names)
        elif len(names) < _MAX_DEPTH and not entry.startswith("."):
            path = os.path.join(shelf.path, entry)
            inner = Shelf(shelf.origin, shelf.policy, path, f"{shelf.shown}/{entry}")
            if _is_new(found, inner, seen):
                _add_shelves(found, [inner], (*names, entry), seen)


def _is_new(found: FoundCommands, shelf: Shelf, seen: set[str]) -> bool:
    """Return whether a folder is to be looked into: links may lead to the same one again and again."""
    try:
        place = shelf.place
    except (OSError, ValueError):
        return True  # why it cannot be read is said where it is listed
    if place in seen:
        return False
    if len(seen) == _MAX_FOLDERS:
        found.problems.note(f"`{shelf.shown}` is not looked into: there are too many folders")
        return False
    seen.add(place)
    return True


def _add_command(found: FoundCommands, shelf: Shelf, file: str, folders: tuple[str, ...]) -> None:
    names = (*folders, file.removesuffix(".md"))
    shown = (
        f"the {shelf.origin}'s command `/{TerminalText.line(':'.join(names), 80)}` is not offered"
    )
    try:
        command = _read_command(shelf, file, names)
    except (OSError, ValueError) as error:
        found.problems.note(shown, error)
        return
    if command is None:
        return
    if (other := found.commands.get(command.name)) is not None:
        found.problems.note(f"{shown}: the {other.origin} has one of this name")
    elif len(found.commands) == _MAX_COMMANDS:
        found.problems.note(f"{shown}: there are more than {_MAX_COMMANDS}")
    else:
        found.commands[command.name] = command


def _read_command(shelf: Shelf, file: str, names: tuple[str, ...]) -> CommandFile | None:
    if not all(map(_NAME.fullmatch, names)):
        raise WrittenTextError("its name must have letters, digits, `-` and `_`")
    text = shelf.read_text(file, _MAX_BYTES)
    if text is None:
        return None
    if text.is_cut:
        raise WrittenTextError(f"it has more than {_MAX_BYTES:,} bytes")
    has_head = text.text.startswith("---")
    head = _split(text.text) if has_head else Frontmatter({}, text.text)
    body = head.body.strip()
    if not body:
        raise WrittenTextError("it is empty")
    return CommandFile(
        name=":".join(names).lower(),
        description=_read_line(head, "description") or TerminalText.line(body, _MAX_CHARS),
        hint=_read_line(head, "argument-hint"),
        origin=shelf.origin,
        body=escape_marks(body),
        allowed_tools=read_names(head.fields, "allowed-tools"),
        has_model="model" in head.fields,
    )


def _split(text: str) -> Frontmatter:
    """Return the head and the body; a hint in brackets is a text."""
    fields, mark, body = text.partition("\n---")
    quoted = _BRACKETS.sub(lambda found: f"{found[1]} '{_double_quotes(found[2])}'", fields)
    return split_frontmatter(f"{quoted}{mark}{body}")


def _double_quotes(text: str) -> str:
    return text.rstrip().replace("'", "''")


def _read_line(head: Frontmatter, name: str) -> str:
    value: Any = head.fields.get(name)
    return TerminalText.line(value, _MAX_CHARS) if isinstance(value, str) else ""
