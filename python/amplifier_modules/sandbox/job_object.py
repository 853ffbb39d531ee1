"""A job object of Windows, by `pywin32`: the processes of one command."""

from __future__ import annotations

import sys

if sys.platform != "win32":
    raise ImportError("these calls are those of Windows")

import msvcrt
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import Any

# Of unknown type: what is published as theirs takes handles for numbers, and jobs for nothing.
pywintypes: Any = import_module("pywintypes")
win32con: Any = import_module("win32con")
win32event: Any = import_module("win32event")
win32job: Any = import_module("win32job")
win32process: Any = import_module("win32process")

_ENDED = 1
"""The exit code of what is ended."""

_starting = Lock()
"""Held while handles can be inherited: else a command would have the output of another one."""


class JobObject:
    """Processes that end with this object, also where this process is killed: nobody else has it."""

    def __init__(self) -> None:
        """Make an empty one.

        Raises:
            OSError: It cannot be made.
        """
        self._process: Any = None
        kind = win32job.JobObjectExtendedLimitInformation
        try:
            self._job = win32job.CreateJobObject(None, "")
            limits = win32job.QueryInformationJobObject(self._job, kind)
            # Nothing may break away: that flag is not set.
            limits["BasicLimitInformation"]["LimitFlags"] = (
                win32job.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            )
            win32job.SetInformationJobObject(self._job, kind, limits)
        except pywintypes.error as error:
            raise OSError(f"a job object cannot be made: {error.strerror}") from error

    def start(
        self,
        arguments: Sequence[str],
        directory: str,
        environment: Mapping[str, str],
        output: int,
    ) -> None:
        """Start the first process, without input, and without a window or a console to read from.

        It runs when it belongs to the job, and not before: nothing that it begins is outside.

        Raises:
            OSError, ValueError: It cannot be started.
        """
        startup = win32process.STARTUPINFO()
        startup.dwFlags = win32con.STARTF_USESTDHANDLES
        line = subprocess.list2cmdline(arguments)
        flags = win32process.CREATE_SUSPENDED | win32process.CREATE_NO_WINDOW
        with _starting, open(os.devnull, "rb") as nothing:
            copies = [os.dup(nothing.fileno()), os.dup(output)]
            try:
                for copy in copies:
                    os.set_inheritable(copy, True)
                startup.hStdInput, startup.hStdOutput = map(msvcrt.get_osfhandle, copies)
                startup.hStdError = startup.hStdOutput
                process, thread, *_ = win32process.CreateProcess(
                    arguments[0],
                    line,
                    None,
                    None,
                    True,
                    flags,
                    dict(environment),
                    directory,
                    startup,
                )
            except pywintypes.error as error:
                raise OSError(f"{error.strerror} (`{arguments[0]}` in `{directory}`)") from error
            finally:
                for copy in copies:
                    os.close(copy)
        try:
            win32job.AssignProcessToJobObject(self._job, process)
            win32process.ResumeThread(thread)
        except pywintypes.error as error:
            win32process.TerminateProcess(process, _ENDED)
            raise OSError(f"`{arguments[0]}` cannot run in a job: {error.strerror}") from error
        self._process = process

    def wait(self) -> int:
        """Wait until the first process has ended, and return its exit code."""
        win32event.WaitForSingleObject(self._process, win32event.INFINITE)
        return win32process.GetExitCodeProcess(self._process)

    def end(self) -> None:
        """End all processes; returns at once."""
        with suppress(pywintypes.error):  # none is left
            win32job.TerminateJobObject(self._job, _ENDED)

    def close(self) -> None:
        """Let go of it, which ends all that is left."""
        self._job.Close()
