"""Files with secrets, which commands in a sandbox cannot read."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from amplifier_guard import PathPolicy
from amplifier_guard.path import secret_places

from .command import Command, CommandRunner, LaunchError

logger = logging.getLogger(__name__)

_SECONDS = 20
_MAX_NAMES = 200
"""Names in one call of git."""


class HiddenFiles:
    """Finds them anew before each command: those of the machine, and those of a project.

    One that git tracks is not hidden: git would see a change, and whoever has the repository has it.
    """

    def __init__(
        self,
        project: str,
        open_reader: Callable[[Sequence[str]], AbstractContextManager[CommandRunner]],
        find_agreed: Callable[[], Collection[str]] = tuple,
        find_kept: Callable[[], Collection[str]] = tuple,
        find_added: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """Look in a project.

        Args:
            project: The folder, links followed.
            open_reader: Returns what runs git, with these files hidden; it need not write.
            find_agreed: Returns the paths that a person agreed to show.
            find_kept: Returns the folders in which versions of files from before are kept, which
                may hold secrets that are gone.
            find_added: Returns further folders that commands use; git is not asked about those.
        """
        self._project = project
        self._policy = PathPolicy(project)
        self._open_reader = open_reader
        self._find_agreed = find_agreed
        self._find_kept = find_kept
        self._find_added = find_added
        self._known: tuple[object, frozenset[str]] = (None, frozenset())

    @property
    def tracked(self) -> frozenset[str]:
        """The files of the project that hold secrets and are not hidden, as git tracks them."""
        return self._known[1]

    def find(self) -> list[str]:
        """Return what to hide, as absolute paths."""
        inside = self._policy.find_secrets()
        tracked = self._find_tracked(inside) if inside else frozenset[str]()
        hidden = [os.path.join(self._project, each) for each in inside if each not in tracked]
        for folder in self._find_added():
            found = PathPolicy(folder).find_secrets()
            hidden += [os.path.join(folder, each) for each in found]
        shown = [self._project, *self._find_agreed()]
        places = [*secret_places(Path.home()), *self._find_kept(), *hidden]
        return [part for place in places for part in _list_hidden(place, shown)]

    def _find_tracked(self, names: Sequence[str]) -> frozenset[str]:
        """Return those that git tracks; asked again when they or its index have changed."""
        try:
            index = os.stat(os.path.join(self._project, ".git", "index"))
        except OSError:
            return frozenset()
        key = (tuple(names), index.st_mtime_ns, index.st_size, index.st_ino)
        if key != self._known[0]:
            before, self._known = self.tracked, (key, frozenset(self._ask_git(names)))
            if new := sorted(self.tracked - before):
                logger.warning(
                    "commands can read %s, which may hold secrets: git tracks it",
                    ", ".join(f"`{name}`" for name in new),
                )
        return self._known[1]

    def _ask_git(self, names: Sequence[str]) -> set[str]:
        """Return the names that git tracks, or of which it tracks something; none if it fails.

        In the sandbox, as settings of a project can have git run a program.
        """
        tracked: set[str] = set()
        with self._open_reader([os.path.join(self._project, name) for name in names]) as runner:
            for start in range(0, len(names), _MAX_NAMES):
                part = names[start : start + _MAX_NAMES]
                listed = self._list_files(runner, part)
                tracked |= {name for name in part if any(_is_at(path, name) for path in listed)}
        return tracked

    def _list_files(self, runner: CommandRunner, names: Sequence[str]) -> list[str]:
        options = "--literal-pathspecs --no-optional-locks -c core.fsmonitor=false"
        text = f"git {options} ls-files -z -- {shlex.join(names)} 2>/dev/null"
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}
        read, write = os.pipe()
        try:
            command = Command(text, self._project, environment, _SECONDS)
            running = runner.start(command, write)
        except LaunchError:
            os.close(read)
            return []
        finally:
            os.close(write)
        with os.fdopen(read, "rb") as output:
            content = output.read()
        try:
            running.wait()
        except LaunchError:
            return []
        return [os.fsdecode(path) for path in content.split(b"\0") if path]


def _list_hidden(place: str, shown: Sequence[str]) -> list[str]:
    """Return a place with secrets, or its parts where it holds something that is shown."""
    if any(Path(place).is_relative_to(each) for each in shown[1:]) or place == shown[0]:
        return []
    if not any(Path(each).is_relative_to(place) for each in shown):
        return [place]
    try:
        parts = os.listdir(place)
    except OSError:
        return [place]
    return [hidden for part in parts for hidden in _list_hidden(os.path.join(place, part), shown)]


def _is_at(path: str, name: str) -> bool:
    return path == name or path.startswith(f"{name}/")
