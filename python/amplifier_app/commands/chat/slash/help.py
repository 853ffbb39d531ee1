"""`/help`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from amplifier_app.commands.chat.command import (
    Command,
    CommandContext,
    Group,
    Shown,
    show_line,
)
from amplifier_app.failure import Failure
from amplifier_app.line_input.candidate import Candidate
from amplifier_app.notice import measure_columns
from amplifier_app.plain_mode import is_plain

_NAME_CHARS = 12
_COLUMN_CHARS = 40
_TABLE_CHARS = 80
_KEYS = (
    "A line while the model works steers it; `!git status` runs a command of yours;",
    "`@path` attaches a file or an image, and Ctrl+V the image in the clipboard.",
    "Alt+Enter, or Enter after `\\`, begins a new line; Tab completes commands, names",
    "and files; Shift+Tab goes on in the next mode. Ctrl+C stops the model at once;",
    "while a tool runs, the first one lets it finish. `/help NAME` says more of one.",
)


def _show_help(context: CommandContext, argument: str) -> Shown:
    commands = context.commands
    if argument:
        name = f"/{argument.lower().removeprefix('/')}"
        command = {**commands.list_added(), **commands.list_own()}.get(name)
        if command is None:
            raise Failure(f"there is no command `{name}`", hint="`/help` shows them")
        return [show_line(f"{command.name} {command.usage}".rstrip()), show_line(command.about)]
    added = list(commands.list_added().values())
    of_files = [each for each in added if each.group is Group.FILES]
    others = [_write_line(each) for each in added if each.group is not Group.FILES]
    columns = measure_columns()
    is_narrow = is_plain(os.environ) or (columns is not None and columns < _TABLE_CHARS)
    write = write_list if is_narrow else write_table
    keys = [" ".join(_KEYS)] if is_narrow else _KEYS
    lines = [*write(commands.list_own()), "", *keys, *([""] if others else []), *others]
    if of_files:
        lines += ["", Group.FILES.value, *(f"  {_write_line(each)}" for each in of_files)]
    return lines


def _write_line(command: Command) -> str:
    return show_line(f"{command.name} {command.usage}".rstrip() + f"  {command.brief}").rstrip()


def write_table(commands: Mapping[str, Command]) -> Iterator[str]:
    """Yield the commands in two columns, each group under its title."""
    groups = [list(_write_group(group, commands)) for group in Group]
    left: Sequence[str] = ()
    count = sum(map(len, groups))
    while groups and len(left) + len(groups[0]) <= (count + 1) // 2 + 1:
        left = [*left, *groups.pop(0)]
    right = [line for group in groups for line in group]
    for first, second in zip_longest(left, right, fillvalue=""):
        yield f"{first:<{_COLUMN_CHARS}}{second}".rstrip()


def write_list(commands: Mapping[str, Command]) -> Iterator[str]:
    """Yield the commands one below the other, each group under its title."""
    for group in Group:
        yield from _write_group(group, commands)


def _write_group(group: Group, commands: Mapping[str, Command]) -> Iterator[str]:
    found = [each for each in commands.values() if each.group is group]
    if found:
        yield group.value
    for each in found:
        yield f"  {each.name:<{_NAME_CHARS}} {each.brief}"


def _complete_names(context: CommandContext, _: str) -> Iterator[Candidate]:
    for each in {**context.commands.list_added(), **context.commands.list_own()}.values():
        yield Candidate(each.name.removeprefix("/"), each.brief)


HELP = Command(
    name="/help",
    usage="[NAME]",
    brief="this",
    about="Show the commands; with a name, more about one.",
    group=Group.MORE,
    run=_show_help,
    complete=_complete_names,
)
