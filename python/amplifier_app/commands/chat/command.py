"""What a slash command is: its name, when it runs, what Tab completes after it, and what it does."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from amplifier_app.commands.chat.service_models import ServiceModels
from amplifier_app.known_secrets import SECRETS
from amplifier_app.line_input.candidate import Candidate

if TYPE_CHECKING:
    from amplifier_app.commands.chat.modes import Modes
    from amplifier_app.commands.chat.turns import Turns
    from amplifier_app.line_input.lines import Lines


_MAX_CHARS = 2000


class Group(Enum):
    """Under which title `/help` has a command; in the order of the titles."""

    MODEL = "Model and context"
    SESSION = "Session"
    CHANGES = "Changes"
    ALLOWED = "What is allowed"
    TOOLS = "Tools"
    MORE = "More"
    FILES = "Your files, and the project's"


class Commands(Protocol):
    """The commands that there are."""

    def list_own(self) -> Mapping[str, Command]:
        """Return those of the program that the session has, by their names."""
        ...

    def list_added(self) -> Mapping[str, Command]:
        """Return those of servers and of files, by their names."""
        ...


@dataclass(frozen=True)
class CommandContext:
    """What a command can look at and change."""

    turns: Turns
    """The conversation: its order (folder, model, modules), its session, its capabilities."""
    lines: Lines
    """Where lines are typed."""
    modes: Modes
    """The mode that counts, and the choice of another one."""
    commands: Commands
    """The commands, this one among them."""
    models: ServiceModels = field(default_factory=ServiceModels)
    """The models that services name."""


Shown = Sequence[str]
"""Lines to show, which are safe for a terminal."""
Run = Callable[[CommandContext, str], Shown | Awaitable[Shown]]
"""Does what the command does with its argument; a `Failure` that it raises is shown in one line."""
Complete = Callable[[CommandContext, str], Iterable[Candidate] | AsyncIterable[Candidate]]
"""Gives candidates for the whole argument, of which it gets as much as is typed; none need to fit."""


def wait_always(_: str) -> bool:
    """Say that a command waits, whatever its argument is."""
    return True


def wait_never(_: str) -> bool:
    """Say that a command never waits."""
    return False


def wait_with_argument(argument: str) -> bool:
    """Say that a command waits if it has an argument."""
    return bool(argument)


def show_line(text: str) -> str:
    """Return foreign text as one line that can be shown."""
    return SECRETS.write_line(text, _MAX_CHARS)


def _offer_nothing(_: CommandContext, __: str) -> Iterable[Candidate]:
    return ()


@dataclass(frozen=True)
class Command:
    """A slash command."""

    name: str
    """With the slash."""
    brief: str
    """What it does, in at most 24 characters, for `/help`."""
    about: str
    """The same in sentences, for `/help NAME`."""
    group: Group
    run: Run
    usage: str = ""
    """What may follow the name, such as `[NAME]`."""
    waits: Callable[[str], bool] = wait_never
    """Whether it waits until the turn that runs is over, by its argument."""
    complete: Complete = _offer_nothing
    tools: tuple[str, ...] = ()
    """The session has the command only with one of these tools."""
    is_posix: bool = False
    """Whether it is there only on POSIX systems."""


class CommandSource(Protocol):
    """Something that has commands of its own: MCP servers, files."""

    def list_commands(self) -> Iterable[Command]:
        """Return those that are known."""
        ...

    def find_command(self, name: str) -> Command | None:
        """Return the command of a name, also one that is not known yet; None if it is of others."""
        ...
