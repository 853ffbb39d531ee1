"""The table of the slash commands of a conversation."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from amplifier_app.commands.chat.command import Command, CommandContext, CommandSource
from amplifier_app.failure import Failure
from amplifier_app.line_input.candidate import Candidate
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.printable import printable_line

if TYPE_CHECKING:
    from amplifier_app.commands.chat.slash_commands import SlashCommand
    from amplifier_app.commands.named_modules import NamedModules

_MAX_ABOUT_CHARS = 80


class CommandTable:
    """Finds commands, and what they can be completed with; they are imported when one is looked for."""

    def __init__(self, named: NamedModules | None) -> None:
        """Have the commands of a session with the modules that the user names."""
        self._named = named
        self._sources: list[CommandSource] = []
        self.context: CommandContext | None = None
        """What the commands work on; until then, nothing completes their arguments."""

    def add_source(self, source: CommandSource) -> None:
        """Have the commands of a source, too; those of the program come first."""
        self._sources.append(source)

    @cached_property
    def _own(self) -> Mapping[str, Command]:
        from amplifier_app.commands.chat.slash.list import OWN

        return {each.name: each for each in OWN if self._is_there(each)}

    def list_own(self) -> Mapping[str, Command]:
        """Return those of the program that the session has, by their names."""
        return self._own

    def list_added(self) -> Mapping[str, Command]:
        """Return those of the sources, by their names."""
        added: dict[str, Command] = {}
        for source in self._sources:
            for command in source.list_commands():
                if command.name not in self._own:
                    added.setdefault(command.name, command)
        return added

    def find(self, name: str) -> Command:
        """Return the command of a name.

        Raises:
            Failure: There is none; it says which may be meant.
        """
        if (command := self._own.get(name)) is not None:
            return command
        for source in self._sources:
            if (command := source.find_command(name)) is not None:
                return command
        raise Failure(f"there is no command `{name}`", hint=self._hint_at(name))

    def read(self, typed: SlashCommand) -> Command:
        """Return the command that was typed.

        Raises:
            Failure: There is none, or it takes nothing.
        """
        command = self.find(typed.name)
        if typed.argument and not command.usage and command is self._own.get(typed.name):
            hint = f"`/help {typed.name[1:]}` says more"
            raise Failure(f"`{typed.name}` takes nothing", hint=hint, exit_code=WRONG_USAGE)
        return command

    def find_names(self, begun: str) -> list[str]:
        """Return the names of the commands that begin with a text."""
        names = sorted({*self._own, *self.list_added()})
        return [each for each in names if each.startswith(begun.lower())]

    async def complete(self, typed: str) -> AsyncIterator[Candidate]:
        """Yield what a line that begins with a slash can become, each as a whole line."""
        name, space, argument = typed.partition(" ")
        if not space:
            added = self.list_added()
            for found in self.find_names(name):
                command = self._own.get(found) or added[found]
                hint = f"{command.usage}  " if found in added and command.usage else ""
                about = printable_line(f"{hint}{command.brief}", _MAX_ABOUT_CHARS)
                yield Candidate(found, about)
            return
        try:
            command = self.find(name.lower())
        except Failure:
            return
        if self.context is None:
            return
        async for candidate in _iterate(command.complete(self.context, argument)):
            is_begun = candidate.text.lower().startswith(argument.lower())
            if is_begun and candidate.text.isprintable():
                about = printable_line(candidate.about, _MAX_ABOUT_CHARS)
                yield Candidate(f"{name} {candidate.text}", about)

    def _hint_at(self, name: str) -> str:
        from difflib import get_close_matches

        from amplifier_app.commands.chat.meant_words import hint_at

        if hint := hint_at(name[1:]):
            return hint
        known = [each[1:] for each in (*self._own, *self.list_added())]
        begun = [each for each in known if each.startswith(name[1:])]
        alike = begun or get_close_matches(name[1:], known, n=2, cutoff=0.6)
        if alike:
            return f"did you mean {' or '.join(f'`/{each}`' for each in alike[:3])}?"
        return "`/help` shows them"

    def _is_there(self, command: Command) -> bool:
        if command.is_posix and os.name != "posix":
            return False
        named = self._named
        return not command.tools or named is None or any(map(named.keeps_tool, command.tools))


async def _iterate(
    candidates: Iterable[Candidate] | AsyncIterable[Candidate],
) -> AsyncIterator[Candidate]:
    if isinstance(candidates, AsyncIterable):
        async for each in candidates:
            yield each
    else:
        for each in candidates:
            yield each
