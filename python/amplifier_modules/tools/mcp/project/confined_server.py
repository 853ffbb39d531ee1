"""A server of a project that runs in the sandbox, where it is kept to the project."""

from __future__ import annotations

import os
import shlex
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import ClassVar

import anyio
import anyio.to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream

from amplifier_core import world
from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.command import Command, CommandRunner, Ending, RunningCommand
from amplifier_modules.sandbox.environment import build_environment, find_caches
from amplifier_modules.sandbox.network_setting import Network
from amplifier_modules.sandbox.runner import Confinement
from amplifier_modules.sandbox.session_folder import SessionFolder
from amplifier_modules.tools.mcp.message_exchange import exchange_messages
from amplifier_modules.tools.mcp.server_entry import Launch

from .streams import PipeOutput, SocketInput, SocketOutput

_CLOSE_SECONDS = 1.0
"""How long a server has to end by itself."""


class ServerSandbox:
    """The sandbox of one server, which begins with its first start; `close` it at the end."""

    def __init__(self, project: Path, network: Network) -> None:
        """Describe it.

        Args:
            project: The folder that the server may change, links followed.
            network: What it reaches.
        """
        self._project = project
        self._network: Network = network
        self._lock = Lock()
        self._opened: tuple[CommandRunner, SessionFolder] | None = None

    def start(self, launch: Launch) -> Pipes:
        """Start a server; blocks.

        Raises:
            OSError: It cannot be started.
        """
        assert sys.platform != "win32"
        runner, folder = self._open()
        errors = ErrorPipe(folder.temporary)
        try:
            ours, theirs = socket.socketpair()
        except BaseException:
            errors.close()
            raise
        with theirs:
            try:
                running = runner.start(self._write(launch, folder, errors), theirs.fileno())
            except BaseException:
                ours.close()
                errors.close()
                raise
        ours.setblocking(False)
        return Pipes(running, ours, errors)

    def close(self) -> None:
        """Remove what is kept, once its server has ended; blocks."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            runner, folder = opened
            runner.close()
            folder.remove()

    def _open(self) -> tuple[CommandRunner, SessionFolder]:
        with self._lock:
            if self._opened is None:
                folder = SessionFolder()
                confinement = Confinement(
                    self._project,
                    folder.path,
                    folder.temporary,
                    find_caches(self._project),
                    "project",
                    self._network,
                )
                self._opened = runners.open_runner(confinement), folder
            return self._opened

    def _write(self, launch: Launch, folder: SessionFolder, errors: ErrorPipe) -> Command:
        # A command has one output and no input: the output is a socket, which takes both ways. In
        # the sandbox the folder has another path, but the same variable.
        words = shlex.join([launch.command, *launch.arguments])
        text = f'exec <&1 2>"$TMPDIR/{errors.name}"\nexec {words}'
        caches = find_caches(self._project)
        environment = build_environment(os.environ, folder.temporary, caches, added=launch.own)
        environment["TMPDIR"] = str(folder.temporary)
        return Command(text, str(launch.directory), environment)


class ErrorPipe:
    """A named pipe for what a server complains of."""

    def __init__(self, folder: Path) -> None:
        """Make it.

        Raises:
            OSError: It cannot be made.
        """
        assert sys.platform != "win32"
        self.name = f"server-{world.random_bytes(8).hex()}.err"
        self._path = folder / self.name
        os.mkfifo(self._path, 0o600)
        self.reader = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        # Open for writing here too: else it is at its end before the server opens it.
        self._keeper: int | None = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)

    def finish(self) -> None:
        """Let it end with what is in it."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            os.close(keeper)

    def close(self) -> None:
        """Remove it."""
        self.finish()
        os.close(self.reader)
        with suppress(OSError):
            os.unlink(self._path)


@dataclass(frozen=True)
class ConfinedLaunch(Launch):
    """A server that is started here, in a sandbox."""

    is_confined: ClassVar[bool] = True
    sandbox: ServerSandbox


@dataclass(frozen=True)
class Pipes:
    """A server that was started, and the ways to it."""

    running: RunningCommand
    both_ways: socket.socket
    errors: ErrorPipe


@asynccontextmanager
async def run_confined_server(
    launch: ConfinedLaunch, note_end: Callable[[str], None]
) -> AsyncGenerator[object]:
    """Start a server in a sandbox, and end it with all that it began when the block is left.

    Args:
        launch: What to start.
        note_end: Called with what is known of it when the server has ended, or has sent what is no
            message of any size that is taken.

    Raises:
        OSError: It cannot be started.
    """
    start = launch.sandbox.start
    pipes = await world.outside("mcp", lambda: anyio.to_thread.run_sync(start, launch))
    server = ConfinedServer(pipes)
    async with exchange_messages(server, note_end) as streams:
        yield streams


class ConfinedServer:
    """A server in a sandbox that runs."""

    def __init__(self, pipes: Pipes) -> None:
        """Take one that was started."""
        self._running = pipes.running
        self._socket = pipes.both_ways
        self._error_pipe = pipes.errors
        self.input: ByteSendStream = SocketInput(pipes.both_ways)
        """What it reads."""
        self.output: ByteReceiveStream = SocketOutput(pipes.both_ways, pipes.errors.finish)
        """Its messages."""
        self.errors: ByteReceiveStream = PipeOutput(pipes.errors.reader)
        """What it complains of."""

    async def describe_end(self) -> str:
        """Say how it has ended, which nobody has done."""
        try:
            ending = await self._wait()
        except OSError as error:
            return str(error)
        if ending is None:
            return "it closed its output"
        signal, code = ending.signal, ending.exit_code
        how = f"with code {code}" if signal is None else f"by signal {signal}"
        return "; ".join([f"it ended {how}", *ending.refused])

    async def end(self) -> None:
        """End it, and all that it has started: first by the end of its input."""
        await self.input.aclose()
        with suppress(OSError):
            if await self._wait() is None:
                self._running.kill()
                await self._wait()

    async def release(self) -> None:
        """Close what is left when it has ended."""
        self._running.kill()
        with suppress(OSError):
            await self._wait()
        for each in (self._socket, self._error_pipe.reader):
            anyio.notify_closing(each)
        self._socket.close()
        await anyio.to_thread.run_sync(self._error_pipe.close)

    async def _wait(self) -> Ending | None:
        """Wait until it has ended; return None if it has not in time.

        Raises:
            OSError: It could not be started after all.
        """
        with anyio.move_on_after(_CLOSE_SECONDS):
            return await anyio.to_thread.run_sync(self._running.wait, abandon_on_cancel=True)
        return None
