"""Commands in a job object, on Windows: all that a command began ends with it, and with this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from .command import Command, Ending, LaunchError
from .git_bash import MISSING, GitBash, find_git_bash
from .shell_folder import ShellFolder
from .watched_command import WatchedCommand


class Job(Protocol):
    """A group of processes that nothing which they begin leaves."""

    def start(
        self,
        arguments: Sequence[str],
        directory: str,
        environment: Mapping[str, str],
        output: int,
    ) -> None:
        """Start the first process, without input.

        Raises:
            OSError, ValueError: It cannot be started.
        """
        ...

    def wait(self) -> int:
        """Wait until the first process has ended, and return its exit code."""
        ...

    def end(self) -> None:
        """End all processes; returns at once."""
        ...

    def close(self) -> None:
        """Let go of it, which ends all that is left."""
        ...


def open_job() -> Job:
    """Make a job object.

    Raises:
        OSError: It cannot be made.
    """
    if sys.platform != "win32":
        raise LaunchError(f"there are no job objects on `{sys.platform}`")
    try:
        from .job_object import JobObject
    except ImportError as error:
        raise LaunchError(f"commands need `pip install pywin32`: {error}") from error
    return JobObject()


def start_in_job(
    command: Command,
    output: int,
    *,
    find_bash: Callable[[], GitBash | None] = lambda: find_git_bash(os.environ),
    open_job: Callable[[], Job] = open_job,
) -> JobCommand:
    """Start a command in a job object of its own.

    Args:
        command: What to run.
        output: The file descriptor that it writes to.
        find_bash: Returns the shell.
        open_job: Makes the job object.

    Raises:
        LaunchError: It cannot be started.
    """
    bash = find_bash()
    if bash is None:
        raise LaunchError(MISSING)
    path = bash.extend_path(command.environment.get("PATH", ""))
    try:
        folder = ShellFolder(command.text)
        try:
            job = open_job()
            try:
                arguments = folder.build_arguments(bash.program)
                environment = {**command.environment, "PATH": path}
                job.start(arguments, command.directory, environment, output)
            except BaseException:
                job.close()
                raise
        except BaseException:
            folder.remove()
            raise
    except LaunchError:
        raise
    except (OSError, ValueError) as error:
        raise LaunchError(f"the command cannot be started: {error}") from error
    return JobCommand(job, folder, command.timeout)


class JobCommand(WatchedCommand):
    """A command in a job object."""

    def __init__(self, job: Job, folder: ShellFolder, timeout: float | None) -> None:
        """Watch a shell that runs in a job.

        Args:
            job: What it and all that it begins belongs to.
            folder: Where it tells its folder.
            timeout: Seconds after which it is ended.
        """
        self._job = job
        self._folder = folder
        self._code = 0
        super().__init__(timeout)

    def list_ports(self) -> list[int]:
        """Return none: they are not known."""
        return []

    def _await_shell(self) -> None:
        self._code = self._job.wait()

    def _kill_all(self) -> None:
        self._job.end()

    def _make_ending(self) -> Ending:
        directory = self._folder.read_directory()
        self._job.close()
        self._folder.remove()
        # There are no signals: who is ended by its job has whatever code that says.
        code = None if self._is_killed else self._code
        return Ending(exit_code=code, timed_out=self._has_expired, directory=directory)
