"""Messages to and from a server that was started here, until it or the session ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from .message_lines import MAX_MESSAGE_BYTES, MessageLines, MessageTooLongError

FLUSH_SECONDS = 0.5
"""How long the last messages to a server are waited for, and the last words of it."""
_MAX_COMPLAINT_BYTES = 4096
_LOST = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)


class StartedServer(Protocol):
    """A server that runs, and its three streams."""

    @property
    def input(self) -> ByteSendStream:
        """What it reads."""
        ...

    @property
    def output(self) -> ByteReceiveStream:
        """Its messages."""
        ...

    @property
    def errors(self) -> ByteReceiveStream:
        """What it complains of."""
        ...

    async def describe_end(self) -> str:
        """Say how it has ended, which nobody has done."""
        ...

    async def end(self) -> None:
        """End it, and all that it has started: first by the end of its input."""
        ...

    async def release(self) -> None:
        """Close what is left when it has ended."""
        ...


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
async def exchange_messages(
    server: StartedServer, note_end: Callable[[str], None]
) -> AsyncGenerator[Any]:
    """Exchange messages with a server, and end it when the block is left.

    Args:
        server: What was started.
        note_end: Called with what is known of it when the server has closed its output, or has sent
            what is no message of any size that is taken.
    """
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
                    await _read_messages(server.output, incoming.send)
                except MessageTooLongError as error:
                    problem = str(error)
                except _LOST:
                    pass
                if not is_closing:
                    with anyio.move_on_after(0 if problem else FLUSH_SECONDS):
                        await complained.wait()
                    note_end(problem or await _describe_end(server, complaint))
        finally:
            with anyio.CancelScope(shield=True), suppress(Exception):
                # One that cannot write does not read either, and could not end by itself.
                await _read_to_end(server.output)

    async def write_input() -> None:
        try:
            async with outgoing:
                async for message in outgoing:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await server.input.send(text.encode("utf-8", "replace") + b"\n")
        except _LOST:
            await incoming.aclose()
        finally:
            written.set()

    async def read_errors() -> None:
        with suppress(*_LOST):
            async for piece in server.errors:
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
                    with anyio.move_on_after(FLUSH_SECONDS):
                        await written.wait()
                    await server.end()
                group.cancel_scope.cancel()
    finally:
        for stream in (incoming, read_stream, write_stream, outgoing):
            stream.close()
        with anyio.CancelScope(shield=True):
            await server.release()


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


async def _describe_end(server: StartedServer, complaint: Complaint) -> str:
    """Say how a server has ended that nobody has ended."""
    how, said = await server.describe_end(), complaint.find_last_line()
    return f"{how}: {said}" if said else how
