"""Commands that Seatbelt keeps to the project, on macOS: tier `seatbelt`.

It has run on Linux alone, where `nono-py` applies Landlock in its place and ignores the rules that
only Seatbelt has. So `find_tier` offers it only where a trial has seen it restrict a command.
"""

from __future__ import annotations

import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from .command import AddedPlaces, Command, Ending, ForwardError, LaunchError, Profile, Tier
from .git_folder import find_git_files, find_git_folders, find_unused_git_files
from .launched import find_libraries
from .network.refusals import Refusals
from .network.rules import HostRules
from .proxy import HostProxy, proxy_environment
from .shell import build_arguments
from .unconfined import UnconfinedCommand, open_pipe

_LAUNCH = str(Path(__file__).with_name("seatbelt_launch.py"))
_LENGTH_BYTES = 8
_READ_BYTES = 65_536


@cache
def find_nono() -> str | None:
    """Return the file of the extension of `nono-py`; None if it is not installed."""
    package = find_spec("nono_py")
    if package is None or package.submodule_search_locations is None:
        return None
    # Its package is not imported: that takes a second.
    found = PathFinder.find_spec("_nono_py", list(package.submodule_search_locations))
    return None if found is None else found.origin


class SeatbeltRunner:
    """Starts each command by a launcher that restricts itself and then becomes the shell.

    All of its process group is killed at its end, as `UnconfinedRunner` says; what has left that
    runs on, restricted as it is.
    """

    tier = Tier.SEATBELT
    takes_layers = False

    def __init__(
        self,
        project: str,
        temporary: str,
        *,
        profile: Profile = "project",
        writable: Sequence[str] = (),
        added: AddedPlaces | None = None,
        find_hidden: Callable[[], Sequence[str]] = tuple,
        rules: HostRules | None = None,
    ) -> None:
        """Describe it.

        Args:
            project: The folder that commands change; an absolute path.
            temporary: A folder of the session, for temporary files.
            profile: Whether they may write to the project.
            writable: Further folders that they may write to, such as caches.
            added: Folders that they use as the project; None for none.
            find_hidden: Returns files and folders that nobody reads; asked before each command.
            rules: Which hosts they reach, through a proxy; None for none.
        """
        self._project = os.path.realpath(project)
        self._temporary = os.path.realpath(temporary)
        self._added = added or AddedPlaces()
        self._writable = [os.path.realpath(each) for each in writable]
        self._profile = profile
        self._find_hidden = find_hidden
        self._proxy: HostProxy | None = None
        self._port: int | None = None
        self._environment: Mapping[str, str] = {}
        self.reaches_hosts = rules is not None
        """Whether commands reach the hosts that the rules allow."""
        if rules is not None:
            # They have no other way, so that they meet neither sockets of others nor private hosts.
            listener = socket.create_server(("127.0.0.1", 0))
            port = self._port = listener.getsockname()[1]
            self._environment = proxy_environment(port)
            self._proxy = HostProxy(listener, rules)

    def start(self, command: Command, output: int) -> SeatbeltCommand:
        """Start a command without input, as `CommandRunner` says."""
        refusals = None if self._proxy is None else self._proxy.watch_refusals()
        source, sink = open_pipe()
        control, theirs = socket.socketpair()
        try:
            plan = self._make_plan(command, sink)
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", _LAUNCH],
                stdin=theirs.fileno(),
                stdout=output,
                stderr=output,
                cwd="/",
                env=find_libraries(),
                pass_fds=(sink,),
                start_new_session=True,
            )
        except BaseException as error:
            os.close(source)
            control.close()
            if isinstance(error, OSError) and not isinstance(error, LaunchError):
                raise LaunchError(f"cannot start `{sys.executable}`: {error}") from error
            raise
        finally:
            os.close(sink)
            theirs.close()
        with suppress(BrokenPipeError, ConnectionResetError):  # the wait says why
            content = marshal.dumps(plan)
            control.sendall(len(content).to_bytes(_LENGTH_BYTES, "little") + content)
        return SeatbeltCommand(process, source, command.timeout, control, refusals)

    def check_forward(self, port: int) -> NoReturn:
        """Refuse: the commands have no network in which they listen.

        Raises:
            ForwardError: Always.
        """
        raise ForwardError(
            f"port {port} cannot be forwarded: in the sandbox of this machine no command can listen"
        )

    forward_port = check_forward

    def close(self) -> None:
        """End all connections of commands to hosts."""
        if self._proxy is not None:
            self._proxy.close()

    def _make_plan(self, command: Command, sink: int) -> dict[str, Any]:
        extension = find_nono()
        if extension is None:
            raise LaunchError("the package `nono-py` is not installed")
        try:
            hidden = list(self._find_hidden())
        except LaunchError:
            raise
        except OSError as error:
            raise LaunchError(f"cannot look for what to hide: {error}") from error
        in_project = [self._project] if self._profile == "project" else []
        environment = {**self._environment, **command.environment, "TMPDIR": self._temporary}
        judged = [self._project, *self._added.find_writable()] if in_project else []
        git_files = [
            each
            for folder in judged
            for each in (*find_git_files(folder), *find_unused_git_files(folder))
        ]
        return {
            "extension": extension,
            "arguments": build_arguments(command.text, sink),
            "directory": command.directory,
            "environment": list(environment.items()),
            "writable": [*judged, *self._writable, self._temporary],
            "read_only": git_files,
            "kept": [each for folder in judged for each in find_git_folders(folder)],
            "hidden": hidden,
            "port": self._port,
        }


class SeatbeltCommand(UnconfinedCommand):
    """A command of a `SeatbeltRunner`."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        source: int,
        timeout: float | None,
        control: socket.socket,
        refusals: Refusals | None,
    ) -> None:
        """Watch a launcher, which leads its group.

        Args:
            process: The launcher, which becomes the shell.
            source: Where the shell tells its folder.
            timeout: Seconds after which it is ended.
            control: Where the launcher says whether the command was started.
            refusals: Takes the hosts that are refused while it runs.
        """
        self._control = control
        self._refusals = refusals
        self._records: list[bytes] | None = None
        self._refused: tuple[str, ...] = ()
        super().__init__(process, source, timeout)

    def wait(self) -> Ending:
        """Wait until the command and all of its group has ended.

        Raises:
            LaunchError: It could not be started after all.
        """
        ending = super().wait()
        with self._waiting:
            if self._records is None:
                self._records = _read_all(self._control).split(b"\0")
                self._refused = tuple(self._refusals.list_reasons()) if self._refusals else ()
        for record in self._records:
            if record.startswith(b"failed "):
                raise LaunchError(record.removeprefix(b"failed ").decode("utf-8", "replace"))
        if b"started" not in self._records and ending.exit_code is not None:
            raise LaunchError(
                "the sandbox did not start the command: its launcher ended with exit code"
                f" {ending.exit_code}"
            )
        return replace(ending, refused=self._refused)


def _read_all(control: socket.socket) -> bytes:
    """Return what the launcher has said; it is gone."""
    pieces: list[bytes] = []
    with control, suppress(ConnectionResetError):
        while piece := control.recv(_READ_BYTES):
            pieces.append(piece)
    return b"".join(pieces)
