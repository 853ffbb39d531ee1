"""Bash on Windows: that of Git for Windows, or another one that is no door to WSL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PureWindowsPath

MISSING = (
    "no bash is found: install Git for Windows (`winget install Git.Git`), which has one, or run"
    " this program in WSL 2"
)
"""What is to be done where there is none."""

_PROGRAM_FOLDERS = ("PROGRAMFILES", "PROGRAMW6432", "PROGRAMFILES(X86)")
_TOOLS = ("mingw64/bin", "usr/bin")
"""Where Git for Windows has the programs that commands use, such as `grep` and `sort`."""


@dataclass(frozen=True)
class GitBash:
    """A shell, and where its programs are."""

    program: str
    folders: tuple[str, ...] = ()
    """They come before all others: `find` and `sort` of Windows are other programs."""

    def extend_path(self, path: str) -> str:
        """Return a `PATH` in which its programs are found first."""
        return ";".join([*self.folders, *filter(None, [path])])


def find_git_bash(
    environment: Mapping[str, str], is_file: Callable[[str], bool] = os.path.isfile
) -> GitBash | None:
    """Return the first bash of `PATH`, else that of the Git there, else that of an installed one.

    Never one of Windows itself, which runs commands in another system: that of WSL.

    Args:
        environment: The variables of this process, with their names in capitals.
        is_file: Whether a path leads to a file.
    """
    for place in _list_places(environment, is_file):
        program = str(place / "bash.exe")
        if not _is_of_windows(place, environment) and is_file(program):
            return GitBash(program, tuple(_list_tools(place, is_file)))
    return None


def _list_places(
    environment: Mapping[str, str], is_file: Callable[[str], bool]
) -> Iterator[PureWindowsPath]:
    """Yield the folders in which it may be, the best first."""
    searched = [
        place
        for each in environment.get("PATH", "").split(";")
        # Else it would be what lies in the project.
        if (place := PureWindowsPath(each.strip('"'))).is_absolute()
    ]
    yield from searched
    for place in searched:
        if is_file(str(place / "git.exe")):
            yield from (parent / "bin" for parent in list(place.parents)[:2])
    for name in _PROGRAM_FOLDERS:
        if name in environment:
            yield PureWindowsPath(environment[name], "Git", "bin")
    if "LOCALAPPDATA" in environment:
        yield PureWindowsPath(environment["LOCALAPPDATA"], "Programs", "Git", "bin")


def _is_of_windows(place: PureWindowsPath, environment: Mapping[str, str]) -> bool:
    """Whether programs of a folder belong to Windows, or are its names for those of its store."""
    system = PureWindowsPath(environment.get("SYSTEMROOT", "C:\\Windows"))
    return place.is_relative_to(system) or "windowsapps" in (each.lower() for each in place.parts)


def _list_tools(place: PureWindowsPath, is_file: Callable[[str], bool]) -> Iterator[str]:
    """Yield the folders of programs of the Git whose bash is in a folder."""
    for root in list(place.parents)[:2]:
        if is_file(str(root / "usr" / "bin" / "bash.exe")):
            yield from (str(root / each) for each in _TOOLS)
            return
