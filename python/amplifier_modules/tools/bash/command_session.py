"""The commands of one session: where they run, with what, and that they end with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from weakref import finalize

import anyio
import anyio.to_thread

from amplifier_modules.sandbox.command import Command, CommandRunner, Ending
from amplifier_modules.sandbox.session_folder import SessionFolder
from amplifier_providers.running.run_sync import caller_into_loop

from .captured_output import CapturedOutput
from .command_run import CommandRun
from .kept_runner import KeptRunner

CLOSE_SECONDS = 5.0
"""How long the end of a session waits for its commands."""


class CommandSession:
    """Starts commands in the working folder, and knows those that run."""

    def __init__(
        self,
        project: Path,
        folder: SessionFolder,
        environment: Mapping[str, str],
        max_output_bytes: int,
    ) -> None:
        """Begin in the folder of the project.

        Args:
            project: The project, links followed.
            folder: For temporary files and outputs.
            environment: All variables of commands.
            max_output_bytes: Bytes of output that is shown, at most.
        """
        self.project = project
        self.directory = project
        """Where the next command runs."""
        self._folder = folder
        self._environment = dict(environment)
        self._max_output_bytes = max_output_bytes
        self._runs: set[CommandRun] = set()
        # A session that is dropped ends its commands, too.
        finalize(self, _kill_all, self._runs)

    def prepare(
        self,
        text: str,
        timeout: float | None,
        runner: CommandRunner,
        on_output: Callable[[CapturedOutput], object],
    ) -> tuple[CommandRun, anyio.Event]:
        """Return a command to start, and the event of its end, which the event loop here sets.

        Args:
            text: What bash reads.
            timeout: Seconds after which it is ended.
            runner: What runs it.
            on_output: Called in a thread when something has come.
        """
        runs, over, call_soon = self._runs, anyio.Event(), caller_into_loop()
        command = Command(text, str(self.directory), self._environment, timeout)
        output = CapturedOutput(self._max_output_bytes, self._folder.name_output)

        def end() -> None:
            runs.discard(run)
            with suppress(RuntimeError):  # the event loop is closed
                call_soon(over.set)

        settle = partial(_settle, runner, output)
        run = CommandRun(
            runner,
            command,
            output,
            on_output=lambda: on_output(output),
            on_end=end,
            settle=settle,
        )
        return run, over

    def start(self, run: CommandRun) -> None:
        """Start a command that was prepared."""
        self._runs.add(run)
        run.start()

    def find_directory(self) -> str | None:
        """Look whether the working folder is still there, else go back to the project and say so."""
        if self.directory == self.project or self.directory.is_dir():
            return None
        gone, self.directory = self.directory, self.project
        return f"the working folder `{self.show(gone)}` is gone: commands run in the project again"

    def follow(self, directory: str | None) -> str | None:
        """Go to the folder where a command has ended; return why it is not followed there.

        Args:
            directory: An absolute path; None where nobody knows.
        """
        if directory is None or (path := Path(directory)) == self.directory:
            return None
        if not path.is_relative_to(self.project):
            return (
                f"the working folder stays `{self.show(self.directory)}`: `{directory}` is outside"
                " of the project"
            )
        if path.is_dir():
            self.directory = path
        return None

    def show(self, directory: Path) -> str:
        """Return a folder as text, from the project."""
        return directory.relative_to(self.project).as_posix()

    async def close(self) -> None:
        """End all commands, and remove what they left outside of the project."""
        runs = list(self._runs)
        _kill_all(runs)
        with anyio.CancelScope(shield=True):
            for run in runs:
                await anyio.to_thread.run_sync(run.join, CLOSE_SECONDS)
            await anyio.to_thread.run_sync(self._folder.remove)


def _settle(
    runner: CommandRunner, output: CapturedOutput, ending: Ending | None
) -> tuple[str, ...]:
    if isinstance(runner, KeptRunner):
        return runner.settle(ending, output.read_end())
    return ()


def _kill_all(runs: set[CommandRun] | list[CommandRun]) -> None:
    for run in list(runs):
        run.kill()
