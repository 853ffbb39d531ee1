"""Runs commands by nothing but bash, to compare with."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

from amplifier_modules.sandbox.command import Command, Ending, Tier


class UnconfinedCommand:
    """A command of a shell, and its group of processes."""

    def __init__(self, command: Command, output: int) -> None:
        self._timeout = command.timeout
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", command.text],
            cwd=command.directory,
            env=dict(command.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def wait(self) -> Ending:
        """Wait for the shell, and end what it has left in its group."""
        try:
            code = self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
            return Ending(None, timed_out=True)
        self.kill()
        return Ending(None, -code) if code < 0 else Ending(code)

    def kill(self) -> None:
        """End the group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


class UnconfinedRunner:
    """Starts commands that may do everything."""

    tier = Tier.NONE

    def start(self, command: Command, output: int) -> UnconfinedCommand:
        """Start a command without input."""
        return UnconfinedCommand(command, output)
