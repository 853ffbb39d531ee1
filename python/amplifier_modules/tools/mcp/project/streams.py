"""The streams of a server in a sandbox, on whichever loop."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.lowlevel import checkpoint
from typing_extensions import override

_PIECE_BYTES = 2**16


class SocketInput(ByteSendStream):
    """One way of a socket."""

    def __init__(self, both_ways: socket.socket) -> None:
        """Send by a socket that does not block."""
        self._socket = both_ways

    @override
    async def send(self, item: bytes) -> None:
        """Send all of it."""
        left = memoryview(item)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
        await checkpoint()

    @override
    async def aclose(self) -> None:
        """Let it be at its end."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)


class SocketOutput(ByteReceiveStream):
    """The other way, whose end is noted."""

    def __init__(self, both_ways: socket.socket, note_end: Callable[[], None]) -> None:
        """Receive by a socket that does not block.

        Args:
            both_ways: The socket.
            note_end: Called at its end.
        """
        self._socket = both_ways
        self._note_end = note_end

    @override
    async def receive(self, max_bytes: int = _PIECE_BYTES) -> bytes:
        """Return what has come, once something has."""
        try:
            while True:
                await anyio.wait_readable(self._socket)
                with suppress(BlockingIOError):
                    piece = self._socket.recv(max_bytes)
                    break
        except OSError:
            piece = b""
        if not piece:
            self._note_end()
            raise anyio.EndOfStream
        return piece

    @override
    async def aclose(self) -> None:
        """Leave it open: it is closed with the server."""


class PipeOutput(ByteReceiveStream):
    """The pipe of complaints."""

    def __init__(self, descriptor: int) -> None:
        """Receive by a pipe that does not block."""
        self._descriptor = descriptor

    @override
    async def receive(self, max_bytes: int = _PIECE_BYTES) -> bytes:
        """Return what has come, once something has."""
        while True:
            await anyio.wait_readable(self._descriptor)
            with suppress(BlockingIOError):
                piece = os.read(self._descriptor, max_bytes)
                break
        if not piece:
            raise anyio.EndOfStream
        return piece

    @override
    async def aclose(self) -> None:
        """Leave it open: it is closed with the server."""
