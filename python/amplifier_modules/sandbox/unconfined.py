"""Commands that nothing keeps to the project: tier `none`."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import AbstractContextManager, suppress
from threading import RLock
from typing import NoReturn

from .command import Command, Ending, ForwardError, LaunchError, Tier
from .command_clock import CommandClock
from .listening_ports import find_listening_ports
from .shell import build_arguments, read_directory

_LEAST_SINK = 64


class UnconfinedRunner:
    """Runs each command in a session and a process group of its own, with all rights of its user.

    At the end of the shell, and where the command is ended, all of the group is killed. What has
    left the group by a session of its own, as daemons do, is not known here and runs on; and if
    this process is killed, so does the command.
    """

    tier = Tier.NONE
    takes_layers = False
    reaches_hosts = True

    def start(self, command: Command, output: int) -> UnconfinedCommand:
        """Start a command without input.

        Args:
            command: What to run.
            output: The file descriptor that it and all that it begins write to, which stays the
                caller's to close.

        Raises:
            LaunchError: It cannot be started.
        """
        if os.name != "posix":
            raise LaunchError("commands run on Linux and macOS alone")
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


def open_pipe() -> tuple[int, int]:
    """Return a pipe whose second end has a number that no command takes for files of its own."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    source, low = os.pipe()
    try:
        return source, fcntl(low, F_DUPFD_CLOEXEC, _LEAST_SINK)
    except OSError:
        os.close(source)
        raise
    finally:
        os.close(low)


class UnconfinedCommand:
    """A command of an `UnconfinedRunner`."""

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
        # Reentrant: a finalizer may call `kill` wherever this thread is.
        self._lock = RLock()
        self._waiting = RLock()
        self._is_over = self._has_expired = False
        self._ending: Ending | None = None
        self._clock = CommandClock(timeout, self._end_in_time)

    def wait(self) -> Ending:
        """Wait until the command and all of its group has ended."""
        with self._waiting:
            if self._ending is None:
                self._ending = self._await_end()
            return self._ending

    def kill(self) -> None:
        """End the command and all of its group; returns at once, also where it has ended."""
        with self._lock:
            if not self._is_over:
                self._kill_group()

    def hold_time(self) -> AbstractContextManager[None]:
        """Let no time pass for the command in a block."""
        return self._clock.hold()

    def list_ports(self) -> list[int]:
        """Return the ports at which it or what it began listens, as far as that is known."""
        with self._lock:
            return [] if self._is_over else find_listening_ports(self._process.pid)

    def _end_in_time(self) -> None:
        with self._lock:
            if not self._is_over:
                self._has_expired = True
                self._kill_group()

    def _await_end(self) -> Ending:
        if hasattr(os, "waitid"):
            # Not reaped yet: no other process can have its number while its group is killed.
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        with self._lock:
            self._kill_group()
            self._is_over = True
        code = self._process.wait()
        self._clock.stop()
        directory = read_directory(self._source)
        os.close(self._source)
        return Ending(
            exit_code=None if code < 0 else code,
            signal=-code if code < 0 else None,
            timed_out=self._has_expired,
            directory=directory,
        )

    def _kill_group(self) -> None:
        # Else nobody is left but the shell itself, which has ended.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
