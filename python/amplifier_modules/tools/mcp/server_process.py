"""A server that is started here, and spoken to over its standard input and output."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from amplifier_core import world

from .message_lines import MAX_MESSAGE_BYTES, MessageLines, MessageTooLongError
from .server_entry import Launch

_CLOSE_SECONDS = 1.0
"""How long a server has to end by itself, and again after it was asked to."""
_FLUSH_SECONDS = 0.5
_POLL_SECONDS = 0.01
_MAX_COMPLAINT_BYTES = 4096


class ServerProcessError(OSError):
    """A server that could not be started, or that broke off."""


class Complaint:
    """The end of what a server writes to its standard error."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._end = b""

    def add(self, piece: bytes) -> None:
        """Take what has come."""
        self._end = (self._end + piece)[-_MAX_COMPLAINT_BYTES:]

    def find_last_line(self) -> str:
        """Return the last line that is not empty; an empty text without one."""
        lines = self._end.decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


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
    process = await world.outside("mcp", lambda: _start(launch))
    incoming, read_stream = anyio.create_memory_object_stream[Any](0)
    write_stream, outgoing = anyio.create_memory_object_stream[Any](0)
    complaint = Complaint()
    written, complained = anyio.Event(), anyio.Event()
    is_closing = False

    async def read_output() -> None:
        problem = ""
        try:
            async with incoming:
                try:
                    await _read_messages(_stream_of(process.stdout), incoming.send)
                except MessageTooLongError as error:
                    problem = str(error)
                except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                    pass
                if not is_closing:
                    with anyio.move_on_after(0 if problem else _FLUSH_SECONDS):
                        await complained.wait()
                    note_end(problem or await _describe_end(process, complaint))
        finally:
            with anyio.CancelScope(shield=True), suppress(Exception):
                # One that cannot write does not read either, and could not end by itself.
                await _read_to_end(_stream_of(process.stdout))

    async def write_input() -> None:
        assert process.stdin is not None
        try:
            async with outgoing:
                async for message in outgoing:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(text.encode("utf-8", "replace") + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            await incoming.aclose()
        finally:
            written.set()

    async def read_errors() -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for piece in _stream_of(process.stderr):
                complaint.add(piece)
        complained.set()

    try:
        async with anyio.create_task_group() as group:
            for read in (read_output, write_input, read_errors):
                group.start_soon(read)
            try:
                yield read_stream, write_stream
            finally:
                is_closing = True
                with anyio.CancelScope(shield=True):
                    read_stream.close()
                    write_stream.close()
                    with anyio.move_on_after(_FLUSH_SECONDS):
                        await written.wait()
                    await _end(process)
                group.cancel_scope.cancel()
    finally:
        for stream in (incoming, read_stream, write_stream, outgoing):
            stream.close()
        with anyio.CancelScope(shield=True):
            await _release(process)


async def _start(launch: Launch) -> Process:
    """Start the process in a session of its own.

    Raises:
        ServerProcessError: It cannot be started.
    """
    try:
        return await anyio.open_process(
            [launch.command, *launch.arguments],
            cwd=launch.directory,
            env=launch.environment,
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise ServerProcessError(f"`{launch.command}` cannot be started: {what}") from error


def _stream_of(stream: ByteReceiveStream | None) -> ByteReceiveStream:
    assert stream is not None  # all are pipes
    return stream


async def _read_messages(stream: ByteReceiveStream, send: Callable[[Any], Any]) -> None:
    """Hand on the messages of an output; lines that are none are left out.

    Raises:
        MessageTooLongError: One is longer than any that is taken.
    """
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    lines = MessageLines(MAX_MESSAGE_BYTES)
    async for piece in stream:
        for line in lines.feed(piece):
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                continue  # what a server prints, which is often a greeting
            await send(SessionMessage(message))


async def _read_to_end(stream: ByteReceiveStream) -> None:
    async for _ in stream:
        pass


async def _describe_end(process: Process, complaint: Complaint) -> str:
    """Say how a server has ended that nobody has ended."""
    has_ended = await _wait_for_end(process, _CLOSE_SECONDS)
    said = complaint.find_last_line()
    how = f"it ended with code {process.returncode}" if has_ended else "it closed its output"
    return f"{how}: {said}" if said else how


async def _wait_for_end(process: Process, seconds: float) -> bool:
    """Wait until a process has ended; return whether it has in time."""
    # `wait` would wait for the ends of its pipes too, which its descendants may hold.
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110 -- see above
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None


async def _end(process: Process) -> None:
    """End a server and its process group: by the end of its input, a signal, and then for good."""
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await _stream_to(process).aclose()
    if not await _wait_for_end(process, _CLOSE_SECONDS):
        _signal_group(process, signal.SIGTERM)
        await _wait_for_end(process, _CLOSE_SECONDS)
    # What it has started may live on in the group.
    _signal_group(process, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    await _wait_for_end(process, _CLOSE_SECONDS)


def _stream_to(process: Process) -> Any:
    assert process.stdin is not None
    return process.stdin


def _signal_group(process: Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, number)


async def _release(process: Process) -> None:
    """Close the pipes of a process that has ended."""
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.returncode is not None:
            with anyio.move_on_after(_CLOSE_SECONDS):
                await process.aclose()
            return
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if callable(close := getattr(transport, "close", None)):
        with suppress(PermissionError):
            close()
