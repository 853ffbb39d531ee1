"""The sandbox of a session: its commands see the machine, and change the project."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from amplifier_core.extension import find_extension

from .bubblewrap import describe_mounts
from .command import AddedPlaces, Command, ForwardError, LaunchError, Profile, RunningCommand, Tier
from .connector import Connector
from .git_folder import (
    find_git_files,
    find_git_folders,
    find_unused_git_files,
    make_hook_folders,
)
from .launched import LaunchedCommand
from .network.rules import HostRules
from .port_forward import PortForward
from .shared_network import SharedNetwork
from .shell import build_arguments

_DIRECTORY_FILE = 250
"""Where the shell tells its working folder: a number that scripts do not use."""


class Sandbox:
    """Starts the commands of one session."""

    def __init__(
        self,
        project: str,
        temporary: str,
        tier: Tier,
        *,
        profile: Profile = "project",
        writable: Sequence[str] = (),
        added: AddedPlaces | None = None,
        shown: Sequence[str] = (),
        find_hidden: Callable[[], Sequence[str]] = tuple,
        rules: HostRules | None = None,
        bubblewrap: str | None = None,
    ) -> None:
        """Describe it; it begins with its first command.

        Args:
            project: The folder that commands change; an absolute path.
            temporary: A folder of the session, for temporary files.
            tier: What keeps commands to them.
            profile: Whether they may write to the project.
            writable: Further folders that they may write to, such as caches.
            added: Folders that they use as the project; None for none.
            shown: Folders that they read, also where they lie in a folder for temporary files.
            find_hidden: Returns files and folders that nobody reads; asked before each command.
            rules: Which hosts they reach, where `reaches_hosts`; None for none.
            bubblewrap: The program that makes the namespaces, where we may not; each command then
                has a network of its own.
        """
        self.tier = tier
        self._project = os.path.realpath(project)
        self._temporary = os.path.realpath(temporary)
        self._added = added or AddedPlaces()
        self._writable = [os.path.realpath(each) for each in writable]
        self._shown = [os.path.realpath(each) for each in shown]
        self._profile = profile
        self._find_hidden = find_hidden
        self._bubblewrap = bubblewrap
        self._network: SharedNetwork | None = None
        if tier is Tier.NAMESPACES and bubblewrap is None:
            self._network = SharedNetwork(self._launch_nothing, rules)
        self.takes_layers = self._network is not None and profile == "project"
        """Whether the changes of a command may go into a layer, in the place of the project."""
        self.reaches_hosts = self._network is not None and rules is not None
        """Whether commands reach the hosts that the rules allow."""

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start a command without input, as `CommandRunner` says."""
        joined = self._join()
        refusals = None if self._network is None else self._network.watch_refusals()
        launched = self._start_launcher(command, output, joined)
        launched.refusals = refusals
        return launched

    def check_forward(self, port: int) -> None:
        """Look whether a port can be forwarded, as `CommandRunner` says."""
        if self._network is None:
            raise ForwardError(f"port {port} cannot be forwarded: {self._describe_obstacle()}")

    def forward_port(self, port: int) -> PortForward:
        """Pass connections to a port of this machine on, as `CommandRunner` says."""
        self.check_forward(port)
        try:
            return PortForward(port, Connector(self._start_connector))
        except OSError as error:
            raise ForwardError(f"port {port} cannot be forwarded: {error}") from error

    def close(self) -> None:
        """Leave the network of the commands, which ends with the last one that runs."""
        if self._network is not None:
            self._network.close()

    def _join(self) -> Sequence[int]:
        return () if self._network is None else self._network.join()

    def _launch_nothing(self) -> LaunchedCommand:
        with open(os.devnull, "wb") as nowhere:
            return self._start_launcher(Command(":", self._project, {}), nowhere.fileno(), ())

    def _start_connector(self, asked: int) -> LaunchedCommand:
        joined = self._join()
        # It opens no file, so that nothing has to be hidden from it.
        plan = self._make_plan(Command(":", self._project, {}), joined, ())
        for name in ("writable", "read_only", "kept", "removed"):
            plan[name] = []
        with open(os.devnull, "wb") as nowhere:
            launched = LaunchedCommand(nowhere.fileno(), [*joined, asked])
        launched.send({**plan, "connector": asked})
        return launched

    def _describe_obstacle(self) -> str:
        if self._bubblewrap is not None:
            return "`bubblewrap` gives each command a network of its own, which cannot be reached"
        return "in the sandbox of this machine no command can listen"

    def _start_launcher(
        self, command: Command, output: int, joined: Sequence[int]
    ) -> LaunchedCommand:
        launched = LaunchedCommand(output, joined)
        try:
            # While the launcher starts, which takes longer.
            launched.send(self._make_plan(command, joined, self._find_hidden()))
        except BaseException as error:
            launched.abandon()
            if isinstance(error, OSError) and not isinstance(error, LaunchError):
                raise LaunchError(f"cannot look for what to hide: {error}") from error
            raise
        return launched

    def _make_plan(
        self, command: Command, joined: Sequence[int], hidden: Sequence[str]
    ) -> dict[str, Any]:
        layer = command.layer
        if layer is not None and not self.takes_layers:
            raise LaunchError("commands of this sandbox change the project itself")
        is_inside = self.tier is Tier.NAMESPACES
        in_project = [self._project] if self._profile == "project" else []
        # What of git is written in a layer is judged before it gets into the project.
        is_direct = bool(in_project) and layer is None
        if is_direct and is_inside:
            make_hook_folders(self._project)
        added = self._added.find_writable() if in_project else ()
        if is_inside:
            for folder in added:
                make_hook_folders(folder)
        # What is written there is in no layer.
        judged = [*([self._project] if is_direct else []), *added]
        environment = {
            **({} if self._network is None else self._network.environment),
            **command.environment,
            "TMPDIR": "/tmp" if is_inside else self._temporary,
        }
        plan: dict[str, Any] = {
            "engine": _require_extension(),
            "tier": self.tier.value,
            "joined": list(joined),
            "arguments": build_arguments(command.text, _DIRECTORY_FILE),
            "directory_file": _DIRECTORY_FILE,
            "directory": command.directory,
            "environment": list(environment.items()),
            "timeout": command.timeout,
            "shown": [
                *self._shown,
                *self._added.find_shown(),
                *_find_own_folders(),
                *([] if in_project else [self._project]),
            ],
            "writable": [*in_project, *added, *self._writable, self._temporary],
            "temporary": self._temporary,
            "read_only": [each for folder in judged for each in find_git_files(folder)],
            "kept": [each for folder in judged for each in find_git_folders(folder)],
            "removed": [each for folder in judged for each in find_unused_git_files(folder)],
            "hidden": list(hidden),
            "overlay": None if layer is None else (self._project, layer.changes, layer.work),
            "wrapper": None,
            "connector": None,
        }
        if self._bubblewrap is not None:
            plan["hidden"] = [os.path.realpath(path) for path in hidden]
            plan["wrapper"] = [self._bubblewrap, *describe_mounts(plan)]
        return plan


@cache
def _require_extension() -> str:
    """Return the file of the extension, in which the stages of a launch are.

    Raises:
        LaunchError: There is none: pure Python cannot make a sandbox.
    """
    extension = find_extension()
    if extension is None:
        raise LaunchError("a sandbox needs the Rust extension, which is not installed")
    return extension


@cache
def _find_own_folders() -> list[str]:
    """Return the folders of the interpreter and of this package that lie in one for temporary files.

    There the session has a folder of its own, and the launcher that bubblewrap starts needs them.
    """
    files = (__file__, _require_extension())
    folders = (sys.prefix, sys.base_prefix, *map(os.path.dirname, files))
    found = dict.fromkeys(map(os.path.realpath, folders))
    return [each for each in found if each.startswith(("/tmp/", "/var/tmp/"))]
