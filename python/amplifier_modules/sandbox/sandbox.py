"""The sandbox of a session: its commands see the machine, and change the project."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any

from .bubblewrap import describe_mounts
from .command import Command, LaunchError, Profile, RunningCommand, Tier
from .git_folder import find_git_files, find_unused_git_files
from .launched import LaunchedCommand
from .shell import shell_arguments


class Sandbox:
    """Starts the commands of one session, all in one network of their own."""

    def __init__(
        self,
        project: str,
        temporary: str,
        tier: Tier,
        *,
        profile: Profile = "project",
        writable: Sequence[str] = (),
        find_hidden: Callable[[], Sequence[str]] = tuple,
        bubblewrap: str | None = None,
    ) -> None:
        """Describe it; it begins with its first command.

        Args:
            project: The folder that commands change; an absolute path.
            temporary: A folder of the session, for temporary files.
            tier: What keeps commands to them.
            profile: Whether they may write to the project.
            writable: Further folders that they may write to, such as caches.
            find_hidden: Returns files and folders that nobody reads; asked before each command.
            bubblewrap: The program that makes the namespaces, where we may not; each command then
                has a network of its own.
        """
        self.tier = tier
        self._project = os.path.realpath(project)
        self._temporary = os.path.realpath(temporary)
        self._folders = [os.path.realpath(each) for each in writable]
        self._profile = profile
        self._find_hidden = find_hidden
        self._bubblewrap = bubblewrap
        self._opening = Lock()
        self._namespaces: list[int] = []
        self._listener: socket.socket | None = None

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start a command without input, as `CommandRunner` says."""
        if self._is_shared:
            self._open_namespaces()
        return self._launch(command, output, self._namespaces)

    def take_listener(self) -> socket.socket | None:
        """Return the socket that listens in the network of the commands; None if there is none."""
        if not self._is_shared:
            return None
        self._open_namespaces()
        listener, self._listener = self._listener, None
        return listener

    def close(self) -> None:
        """Leave the network of the commands, which ends with the last one that runs."""
        with self._opening:
            for each in self._namespaces:
                os.close(each)
            self._namespaces = []
            if self._listener is not None:
                self._listener.close()

    @property
    def _is_shared(self) -> bool:
        """Whether all commands of the session have one network."""
        return self.tier is Tier.NAMESPACES and self._bubblewrap is None

    def _open_namespaces(self) -> None:
        """Have a command that does nothing make the namespaces, unless there are some."""
        with self._opening:
            if self._namespaces:
                return
            read, write = os.pipe()
            os.close(read)
            try:
                first = self._launch(Command(":", self._project, {}), write, ())
                first.wait()
            finally:
                os.close(write)
            *self._namespaces, listener = first.files
            self._listener = socket.socket(fileno=listener)

    def _launch(self, command: Command, output: int, joined: Sequence[int]) -> LaunchedCommand:
        launched = LaunchedCommand(output, joined)
        try:
            # While the launcher starts, which takes longer.
            launched.send(self._plan(command, joined))
        except BaseException:
            launched.kill()
            raise
        return launched

    def _plan(self, command: Command, joined: Sequence[int]) -> dict[str, Any]:
        is_inside = self.tier is Tier.NAMESPACES
        in_project = [self._project] if self._profile == "project" else []
        plan: dict[str, Any] = {
            "engine": _find_engine(),
            "tier": self.tier.value,
            "joined": list(joined),
            "arguments": shell_arguments(command.text),
            "directory": command.directory,
            "environment": [
                *command.environment.items(),
                ("TMPDIR", "/tmp" if is_inside else self._temporary),
            ],
            "timeout": command.timeout,
            "shown": [] if in_project else [self._project],
            "writable": [*in_project, *self._folders, self._temporary],
            "temporary": self._temporary,
            "read_only": find_git_files(self._project) if in_project else [],
            "kept": [os.path.join(self._project, ".git")] if in_project else [],
            "removed": find_unused_git_files(self._project) if in_project else [],
            "hidden": list(self._find_hidden()),
            "wrapper": None,
        }
        if self._bubblewrap is not None:
            plan["wrapper"] = [self._bubblewrap, *describe_mounts(plan)]
        return plan


@cache
def _find_engine() -> str:
    """Return the file of the Rust engine, in which the stages of a launch are.

    Raises:
        LaunchError: There is none: pure Python cannot make a sandbox.
    """
    found = find_spec("amplifier_core._engine")
    if found is None or found.origin is None:
        raise LaunchError("a sandbox needs the Rust engine, which is not installed")
    return found.origin
