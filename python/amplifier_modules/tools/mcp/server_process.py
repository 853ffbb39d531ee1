"""A server that is started here with the rights of its user, over its standard input and output."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from amplifier_core import world

from .message_exchange import exchange_messages
from .server_entry import Launch

_CLOSE_SECONDS = 1.0
"""How long a server has to end by itself, and again after it was asked to."""
_POLL_SECONDS = 0.01


class ServerProcessError(OSError):
    """A server that could not be started, or that broke off."""


@asynccontextmanager
async def run_server_process(
    launch: Launch, note_end: Callable[[str], None]
) -> AsyncGenerator[Any]:
    """Start a server, and end it with all of its process group when the block is left.

    Args:
        launch: What to start.
        note_end: Called with what is known of it when the server has closed its output, or has sent
            what is no message of any size that is taken.

    Raises:
        ServerProcessError: It cannot be started.
    """
    server = ServerProcess(await world.outside("mcp", lambda: _start(launch)))
    async with exchange_messages(server, note_end) as streams:
        yield streams


class ServerProcess:
    """A process in a session of its own."""

    def __init__(self, process: Process) -> None:
        """Take a process whose three streams are pipes."""
        self._process = process

    @property
    def input(self) -> ByteSendStream:
        """What it reads."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def output(self) -> ByteReceiveStream:
        """Its messages."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def errors(self) -> ByteReceiveStream:
        """What it complains of."""
        assert self._process.stderr is not None
        return self._process.stderr

    async def describe_end(self) -> str:
        """Say how it has ended, which nobody has done."""
        has_ended = await self._wait_for_end()
        code = self._process.returncode
        return f"it ended with code {code}" if has_ended else "it closed its output"

    async def end(self) -> None:
        """End it and its process group: by the end of its input, a signal, and then for good."""
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.input.aclose()
        if not await self._wait_for_end():
            self._signal_group(signal.SIGTERM)
            await self._wait_for_end()
        # What it has started may live on in the group.
        self._signal_group(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        await self._wait_for_end()

    async def release(self) -> None:
        """Close the pipes of a process that has ended."""
        process = self._process
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if process.returncode is not None:
                with anyio.move_on_after(_CLOSE_SECONDS):
                    await process.aclose()
                return
        transport = getattr(getattr(process, "_process", None), "_transport", None)
        if callable(close := getattr(transport, "close", None)):
            with suppress(PermissionError):
                close()

    async def _wait_for_end(self) -> bool:
        """Wait until it has ended; return whether it has in time."""
        # `wait` would wait for the ends of its pipes too, which its descendants may hold.
        with anyio.move_on_after(_CLOSE_SECONDS):
            while self._process.returncode is None:  # noqa: ASYNC110 -- see above
                await anyio.sleep(_POLL_SECONDS)
        return self._process.returncode is not None

    def _signal_group(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.killpg(self._process.pid, number)


async def _start(launch: Launch) -> Process:
    """Start the process in a session of its own.

    Raises:
        ServerProcessError: It cannot be started.
    """
    try:
        return await anyio.open_process(
            [launch.command, *launch.arguments],
            cwd=launch.directory,
            env=launch.build_environment(os.environ),
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise ServerProcessError(f"`{launch.command}` cannot be started: {what}") from error
