"""Commands that nothing keeps to the project: tier `none`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TypeAlias

from .command import Command, Ending, ForwardError, LaunchError, RunningCommand, Tier
from .job_command import start_in_job
from .listening_ports import find_listening_ports
from .shell import build_arguments, read_directory
from .watched_command import WatchedCommand

_LEAST_SINK = 64

StartCommand: TypeAlias = Callable[[Command, int], RunningCommand]
"""Starts a command that writes to a file descriptor."""


def choose_start(platform: str) -> StartCommand:
    """Return what starts commands on a system, by its name in `sys.platform`."""
    return start_in_job if platform == "win32" else start_in_group


class UnconfinedRunner:
    """Runs each command in a group of its own, with all rights of its user.

    At the end of the shell, and where the command is ended, all of the group is killed. On Windows
    it is a job object, which nothing leaves. Elsewhere it is a process group in a session: what has
    left that by a session of its own, as daemons do, is not known here and runs on; and if this
    process is killed, so does the command.
    """

    tier = Tier.NONE
    takes_layers = False
    reaches_hosts = True

    def __init__(self, start: StartCommand | None = None) -> None:
        """Start commands in the way of this system.

        Args:
            start: Another way.
        """
        self._start = start or choose_start(sys.platform)

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start a command without input.

        Args:
            command: What to run.
            output: The file descriptor that it and all that it begins write to, which stays the
                caller's to close.

        Raises:
            LaunchError: It cannot be started.
        """
        return self._start(command, output)

    def check_forward(self, port: int) -> NoReturn:
        """Refuse: the commands have the network of this machine.

        Raises:
            ForwardError: Always.
        """
        raise ForwardError(
            f"port {port} needs no forward: the job runs without a sandbox, and is reached directly"
            f" at http://127.0.0.1:{port}/"
        )

    forward_port = check_forward

    def close(self) -> None:
        """Do nothing: nothing is kept."""


def start_in_group(command: Command, output: int) -> UnconfinedCommand:
    """Start a command in a session and a process group of its own.

    Args:
        command: What to run.
        output: The file descriptor that it writes to.

    Raises:
        LaunchError: It cannot be started.
    """
    source, sink = open_pipe()
    try:
        process = subprocess.Popen(
            build_arguments(command.text, sink),
            cwd=command.directory,
            env=dict(command.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(sink,),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(source)
        raise LaunchError(f"the command cannot be started: {error}") from error
    finally:
        os.close(sink)
    return UnconfinedCommand(process, source, command.timeout)


def open_pipe() -> tuple[int, int]:
    """Return a pipe whose second end has a number that no command takes for files of its own."""
    assert sys.platform != "win32"
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    source, low = os.pipe()
    try:
        return source, fcntl(low, F_DUPFD_CLOEXEC, _LEAST_SINK)
    except OSError:
        os.close(source)
        raise
    finally:
        os.close(low)


class UnconfinedCommand(WatchedCommand):
    """A command in a process group."""

    def __init__(
        self, process: subprocess.Popen[bytes], source: int, timeout: float | None
    ) -> None:
        """Watch a process that leads its group.

        Args:
            process: The shell.
            source: Where it tells its folder.
            timeout: Seconds after which it is ended.
        """
        self._process = process
        self._source = source
        super().__init__(timeout)

    def list_ports(self) -> list[int]:
        """Return the ports at which it or what it began listens, as far as that is known."""
        with self._lock:
            return [] if self._is_over else find_listening_ports(self._process.pid)

    def _await_shell(self) -> None:
        assert sys.platform != "win32"
        if hasattr(os, "waitid"):
            # Not reaped yet: no other process can have its number while its group is killed.
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()

    def _kill_all(self) -> None:
        assert sys.platform != "win32"
        # Else nobody is left but the shell itself, which has ended.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _make_ending(self) -> Ending:
        code = self._process.wait()
        directory = read_directory(self._source)
        os.close(self._source)
        return Ending(
            exit_code=None if code < 0 else code,
            signal=-code if code < 0 else None,
            timed_out=self._has_expired,
            directory=directory,
        )
