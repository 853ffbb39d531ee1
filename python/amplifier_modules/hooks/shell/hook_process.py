"""A hook that runs: JSON in, two bounded outputs out, and nothing left of it at its end."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread

import anyio
import anyio.to_thread

from amplifier_core import world
from amplifier_modules.sandbox.command import Command, CommandRunner, Ending, RunningCommand

_MAX_OUTPUT_BYTES = 256 * 1024
_PIECE_BYTES = 2**16
_MAX_PIECES_AFTER_END = 16
"""More is in no pipe at the end of the hook; what comes later is not of it."""


@dataclass(frozen=True)
class FinishedHook:
    """How a hook ended, and what it wrote."""

    ending: Ending | None
    """None where it could not be started."""
    output: bytes = b""
    errors: bytes = b""
    is_cut: bool = False
    """Whether more was in its output than is kept."""
    failure: str = ""
    """Why it could not be started."""


@dataclass(frozen=True)
class HookPlace:
    """Where hooks run, and with what."""

    runner: CommandRunner
    directory: str
    temporary: Path
    """The folder that they find as `TMPDIR`."""
    environment: Mapping[str, str]


class HookProcess:
    """One run of one command."""

    def __init__(self, place: HookPlace, line: str, timeout: float, given: bytes) -> None:
        """Describe it.

        Args:
            place: Where it runs.
            line: The command.
            timeout: Seconds after which it is ended.
            given: What it reads from its standard input.
        """
        self._place = place
        self._line = line
        self._timeout = timeout
        self._given = given
        self._lock = Lock()
        self._running: RunningCommand | None = None
        self._has_begun = self._is_killed = False
        self._over = Event()

    async def run(self) -> FinishedHook:
        """Run it to its end; where this is cancelled, it is ended first."""
        try:
            return await anyio.to_thread.run_sync(self._run, abandon_on_cancel=True)
        except BaseException:
            self._kill()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._over.wait)
            raise

    def _kill(self) -> None:
        with self._lock:
            self._is_killed = True
            running = self._running
            if not self._has_begun:
                self._over.set()
        if running is not None:
            running.kill()

    def _run(self) -> FinishedHook:
        with self._lock:
            if self._is_killed:
                return FinishedHook(None, failure="it was cancelled")
            self._has_begun = True
        try:
            return self._run_to_end()
        except OSError as error:
            return FinishedHook(None, failure=str(error))
        finally:
            self._over.set()

    def _run_to_end(self) -> FinishedHook:
        name = f"hook-{world.random_bytes(8).hex()}"
        source = self._place.temporary / f"{name}.in"
        errors = self._place.temporary / f"{name}.err"
        outputs: HookOutputs | None = None
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with open(os.open(source, flags, 0o600), "wb") as file:
                file.write(self._given)
            outputs = HookOutputs(errors)
            # In the sandbox the folder has another path, but the same variable.
            redirected = f'exec <"$TMPDIR/{source.name}" 2>"$TMPDIR/{errors.name}"\n{self._line}'
            command = Command(
                redirected, self._place.directory, self._place.environment, self._timeout
            )
            running = self._place.runner.start(command, outputs.sink)
            with self._lock:
                self._running = running
                is_killed = self._is_killed
            if is_killed:
                running.kill()
            outputs.start()
            ending = running.wait()
            outputs.finish()
            return FinishedHook(
                ending, bytes(outputs.output), bytes(outputs.errors), outputs.is_cut
            )
        finally:
            if outputs is not None:
                outputs.close()
            for path in (source, errors):
                with suppress(OSError):
                    os.unlink(path)


class HookOutputs:
    """Takes the output and the errors of a hook, each up to a limit, until it ends."""

    def __init__(self, errors: Path) -> None:
        """Make the pipes: one for the output, and a named one for the errors.

        Raises:
            OSError: They cannot be made.
        """
        assert sys.platform != "win32"
        self.output, self.errors = bytearray(), bytearray()
        self.is_cut = False
        self._descriptors: list[int] = []
        self._thread = Thread(target=self._read, name="hook-output", daemon=True)
        self._is_started = self._is_finished = False
        try:
            self._output, self.sink = self._keep(os.pipe())
            os.mkfifo(errors, 0o600)
            self._errors = self._keep((os.open(errors, os.O_RDONLY | os.O_NONBLOCK),))[0]
            # Open for writing here too: else it is at its end before the hook opens it.
            self._keep((os.open(errors, os.O_WRONLY | os.O_NONBLOCK),))
            self._ended, self._ending = self._keep(os.pipe())
            os.set_blocking(self._output, False)
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Begin to read."""
        self._is_started = True
        self._thread.start()

    def finish(self) -> None:
        """Take what is left when the hook has ended."""
        if not self._is_finished:
            self._is_finished = True
            os.write(self._ending, b".")
            if self._is_started:
                self._thread.join()

    def close(self) -> None:
        """Close all pipes."""
        if self._is_started:
            self.finish()
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _keep(self, descriptors: tuple[int, ...]) -> tuple[int, ...]:
        self._descriptors += descriptors
        return descriptors

    def _read(self) -> None:
        assert sys.platform != "win32"
        taken = {self._output: self.output, self._errors: self.errors}
        poll = select.poll()
        for descriptor in (*taken, self._ended):
            poll.register(descriptor, select.POLLIN)
        left = _MAX_PIECES_AFTER_END
        while left:
            ready = {descriptor for descriptor, _ in poll.poll()}
            is_over = self._ended in ready
            left -= is_over
            pieces = [self._take(each, taken[each]) for each in taken if each in ready]
            if is_over and not any(pieces):
                return

    def _take(self, descriptor: int, into: bytearray) -> bool:
        """Take one piece; whether there was one."""
        try:
            piece = os.read(descriptor, _PIECE_BYTES)
        except BlockingIOError:
            return False
        room = _MAX_OUTPUT_BYTES - len(into)
        into += piece[:room]
        self.is_cut = self.is_cut or (into is self.output and len(piece) > room)
        return bool(piece)
