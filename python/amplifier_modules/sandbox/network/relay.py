"""Bytes between a client and a server, until both have ended or nothing moves any more."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NamedTuple

from .answer import close_after_answer, is_interim_answer
from .problem import ProxyProblem
from .request import Body, Chunked, parse_chunk_size
from .server_name import HANDSHAKE, read_hello, read_server_name

_PIECE_BYTES = 64 * 1024
_LINGER_SECONDS = 2
"""How long the other side may take to hang up."""
_MAX_UNREAD_BYTES = 1024 * 1024
_UNRECOGNIZED_NAME = bytes([21, 3, 1, 0, 2, 2, 112])
"""The fatal alert of TLS for a wrong name of the server, which clients show."""


class Side(NamedTuple):
    """One of the two connections."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def write_last(self, content: bytes) -> None:
        """Write what comes before the end, unless the end was sent already."""
        with suppress(RuntimeError):
            self.writer.write(content)

    async def finish(self) -> None:
        """Send the end, and discard what still comes, so that the other side reads all of it.

        A connection that is closed while bytes are unread is reset, and the other side may lose
        what it was sent.
        """
        with suppress(OSError):
            self.writer.write_eof()
            async with asyncio.timeout(_LINGER_SECONDS):
                unread = _MAX_UNREAD_BYTES
                while unread > 0 and (piece := await self.reader.read(_PIECE_BYTES)):
                    unread -= len(piece)


async def open_side(address: str, port: int) -> Side:
    """Connect to an address."""
    reader, writer = await asyncio.open_connection(address, port)
    return make_side(reader, writer)


def make_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Side:
    """A connection whose writer hands all bytes to the system before more are read for it."""
    writer.transport.set_write_buffer_limits(high=0)
    return Side(reader, writer)


class Relay:
    """Moves bytes between a client and a server.

    Args:
        client: Who asked.
        server: Who answers.
        idle: Seconds after which the relay ends with a `TimeoutError` if no bytes move.
    """

    def __init__(self, client: Side, server: Side, idle: float) -> None:
        self._client = client
        self._server = server
        self._idle = idle
        self._limit = asyncio.timeout(idle)
        self._problem: ProxyProblem | None = None
        self._refusal: str | None = None
        self.has_answered = False
        """Whether the client was sent anything of the server."""

    async def run_tunnel(self, host: str | None) -> str | None:
        """Move bytes in both directions; the end of one direction leaves the other open.

        Args:
            host: The only server that the client may name if it speaks TLS; None for any.

        Returns:
            What was refused, if the client named another server; nothing was sent then.
        """
        async with self._limit:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._copy_tunnel_back())
                    group.create_task(self._copy_tunnel(host))
            except* OSError:
                pass
        return self._refusal

    async def run_request(self, body: Body) -> None:
        """Send the body of a request, and what the server answers.

        Raises:
            ProxyProblem: The body is malformed.
        """
        async with self._limit:
            sending = asyncio.create_task(self._send_body(body))
            try:
                await self._copy_answer_heads()
                await self._copy_answer()
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
        if self._problem is not None and not self.has_answered:
            raise self._problem

    async def _copy_answer_heads(self) -> None:
        """Copy the heads of an answer, interim ones among them; the last one ends the connection."""
        is_interim = True
        try:
            while is_interim:
                head = await self._server.reader.readuntil(b"\r\n\r\n")
                is_interim = is_interim_answer(head)
                await self._answer(head if is_interim else close_after_answer(head))
        except asyncio.IncompleteReadError as error:
            await self._answer(error.partial)
        except asyncio.LimitOverrunError:
            # No head that a client would read: it gets the bytes as they are.
            return

    async def _copy_answer(self) -> None:
        while piece := await self._server.reader.read(_PIECE_BYTES):
            await self._answer(piece)

    async def _answer(self, piece: bytes) -> None:
        if piece:
            self.has_answered = True
            await self._send(self._client, piece)

    async def _copy_tunnel_back(self) -> None:
        await self._copy_answer()
        _end_sending(self._client)

    async def _copy_tunnel(self, host: str | None) -> None:
        piece = await self._client.reader.read(_PIECE_BYTES)
        if host is not None and piece[:1] == bytes([HANDSHAKE]):
            piece = await self._expect_server_name(piece, host)
        while piece:
            await self._send(self._server, piece)
            piece = await self._client.reader.read(_PIECE_BYTES)
        _end_sending(self._server)

    async def _expect_server_name(self, start: bytes, host: str) -> bytes:
        """Read on until the name of the server is known; returns all that was read."""
        try:
            while (hello := read_hello(start)) is None:
                piece = await self._client.reader.read(_PIECE_BYTES)
                if not piece:
                    return start
                start += piece
            name = read_server_name(hello)
        except ValueError as error:
            text = f"the TLS connection to `{host}` was not begun: {error}"
            raise self._refuse(text) from error
        if name is None or name.lower().removesuffix(".") == host.lower():
            return start
        shown = name[:100].encode("unicode_escape").decode()
        text = f"`{shown}` was asked for in a TLS connection to `{host}`; connect to it by its name"
        raise self._refuse(text)

    def _refuse(self, text: str) -> OSError:
        self._refusal = text
        if not self.has_answered:
            self._client.write_last(_UNRECOGNIZED_NAME)
        return ConnectionAbortedError(text)

    async def _send_body(self, body: Body) -> None:
        try:
            if isinstance(body, Chunked):
                await self._send_chunks()
            else:
                await self._send_bytes(body or 0)
        except OSError:
            # The server reads no more, but it may have answered.
            return
        except (ProxyProblem, EOFError, asyncio.LimitOverrunError) as error:
            is_known = isinstance(error, ProxyProblem)
            self._problem = error if is_known else ProxyProblem(400, "the body is incomplete")
            self._server.writer.transport.abort()

    async def _send_chunks(self) -> None:
        size = None
        while size != 0:
            size = parse_chunk_size(await self._client.reader.readuntil(b"\r\n"))
            if size:
                await self._send(self._server, b"%x\r\n" % size)
                await self._send_bytes(size)
                if await self._client.reader.readexactly(2) != b"\r\n":
                    raise ProxyProblem(400, "a chunk of the body is malformed")
                await self._send(self._server, b"\r\n")
        while await self._client.reader.readuntil(b"\r\n") != b"\r\n":
            pass
        await self._send(self._server, b"0\r\n\r\n")

    async def _send_bytes(self, size: int) -> None:
        while size:
            piece = await self._client.reader.read(min(size, _PIECE_BYTES))
            if not piece:
                raise EOFError
            await self._send(self._server, piece)
            size -= len(piece)

    async def _send(self, side: Side, piece: bytes) -> None:
        side.writer.write(piece)
        await side.writer.drain()
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time() + self._idle)


def _end_sending(side: Side) -> None:
    with suppress(OSError):
        side.writer.write_eof()
