"""What is known of a tool call before it runs: its effect, the parts of its command, its paths."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from .command_line import CommandLine, only_reads, read_line
from .domains import read_host


class Effect(StrEnum):
    """What a call does, as far as its tool says."""

    READS = "reads"
    """It changes nothing."""
    SESSION = "acts in the session"
    """It changes nothing outside: what it leads to is judged by itself."""
    WRITES = "writes files"
    RUNS = "runs a command"
    LEAVES = "runs a command outside of the sandbox"
    ACTS = "may change something"
    """Anything else."""


class CallPath(NamedTuple):
    """A path that a call names."""

    spellings: tuple[str, ...]
    """As it is written, and with links followed; absolute."""


@dataclass(frozen=True)
class Call:
    """A tool call."""

    name: str
    tool: Any
    """None where no tool is mounted under this name."""
    arguments: Mapping[str, Any]
    effect: Effect
    line: CommandLine | None
    """The command of `bash`; None for other tools."""
    paths: tuple[CallPath, ...]
    directory: str
    """Where a command runs."""

    @property
    def asks_itself(self) -> bool:
        """Whether the tool wants a person asked about just these arguments."""
        needs: Any = getattr(self.tool, "needs_approval", False)
        return callable(needs) and needs(dict(self.arguments)) is True

    @property
    def asks_always(self) -> bool:
        """Whether the tool wants a person asked about each of its calls."""
        return getattr(self.tool, "needs_approval", False) is True

    @property
    def host(self) -> str | None:
        """The host that a call of `web_fetch` reads from; None for any other call."""
        return read_host(self.arguments.get("url")) if self.name == "web_fetch" else None

    @property
    def shows_changes(self) -> bool:
        """Whether the tool itself asks about what just this call changes, in the mode `review`."""
        shows: Any = getattr(self.tool, "shows_changes", None)
        return callable(shows) and shows(dict(self.arguments)) is True

    @property
    def is_harmless(self) -> bool:
        """Whether it is a command that `allow` of `tool-bash` names, to run in the usual place."""
        check: Any = getattr(self.tool, "is_harmless", None)
        if self.line is None or self.effect is Effect.LEAVES or not callable(check):
            return False
        return check(self.line.text) is True

    @property
    def is_unconfined(self) -> bool:
        """Whether it runs a command that no sandbox keeps to the project."""
        if self.line is None:
            return False
        return self.effect is Effect.LEAVES or getattr(self.tool, "is_confined", False) is not True


def describe_call(name: str, tool: Any, arguments: Mapping[str, Any], project: Path) -> Call:
    """Return what is known of a call.

    Args:
        name: The tool that is called.
        tool: The tool of this name; None if there is none.
        arguments: Its arguments.
        project: What paths are counted from.
    """
    directory = str(getattr(tool, "directory", project))
    command: Any = arguments.get("command") if name == "bash" else None
    line = read_line(command) if isinstance(command, str) else None
    effect = _find_effect(name, tool, arguments, line, directory)
    return Call(
        name, tool, arguments, effect, line, _find_paths(tool, arguments, project), directory
    )


def list_preview(call: Call) -> list[str]:
    """Return rows that show what a call would change, as its tool knows them; blocks."""
    preview: Any = getattr(call.tool, "preview_call", None)
    if call.effect is not Effect.WRITES or not callable(preview):
        return []
    rows: Any = preview(dict(call.arguments))
    return list(rows)


def _find_effect(
    name: str, tool: Any, arguments: Mapping[str, Any], line: CommandLine | None, directory: str
) -> Effect:
    if getattr(tool, "read_only", False) is True:
        return Effect.READS
    if getattr(tool, "acts_in_session", False) is True:
        return Effect.SESSION
    if line is not None:
        if arguments.get("sandbox", "default") != "default":
            return Effect.LEAVES
        return Effect.READS if only_reads(line.text, directory) else Effect.RUNS
    return Effect.WRITES if name in ("apply_patch", "edit_file", "write_file") else Effect.ACTS


def _find_paths(tool: Any, arguments: Mapping[str, Any], project: Path) -> tuple[CallPath, ...]:
    list_paths: Any = getattr(tool, "list_paths", None)
    given: Any = [arguments.get("path", ".")]
    if callable(list_paths):
        given = list_paths(dict(arguments))
    return tuple(_spell_path(project, each) for each in given if isinstance(each, str))


def _spell_path(project: Path, path: str) -> CallPath:
    written = os.path.normpath(os.path.join(project, path))
    try:
        followed = os.path.realpath(os.path.join(project, path))
    except (OSError, ValueError):
        followed = written
    return CallPath(tuple(dict.fromkeys((written, followed))))
