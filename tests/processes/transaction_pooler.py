"""A pooler in transaction mode: the next transaction of a client may be on another connection."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress
from typing import Any, Self

import asyncpg

_LENGTH = 4
_IDLE, _READY, _TERMINATE = b"I", b"Z", b"X"
_ANSWERED = b"S", b"Q"
"""What the server answers with `_READY`."""
_PROCESS = 4_000_000
"""What clients are told is the process of the server, as no process has this number."""


class TransactionPooler:
    """Listens on a port of the loopback, in a thread of its own, and lets in everybody.

    Args:
        dsn: The server, which needs no password from the pooler's clients.
        size: How many connections to it are opened; they take turns.
    """

    def __init__(self, dsn: str, size: int = 2) -> None:
        self._dsn = dsn
        self._size = size
        self._free: deque[_ServerSide] = deque()
        self._returned = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.port = 0
        self.transactions = 0

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(30)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _open(self) -> None:
        self._free.extend([await _ServerSide.connect(self._dsn) for _ in range(self._size)])
        self._all = list(self._free)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for each in self._all:
            each.connection.terminate()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            await self._greet(reader, writer)
            waiting = asyncio.create_task(_read_message(reader))
            while (await waiting)[:1] != _TERMINATE:
                waiting = await self._run_transaction(waiting, reader, writer)
        writer.close()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            length = int.from_bytes(await reader.readexactly(_LENGTH), "big")
            asked = await reader.readexactly(length - _LENGTH)
            if asked[:2] == b"\x00\x03":
                break
            writer.write(b"N")  # no TLS
        writer.write(_make_message(b"R", bytes(4)))
        writer.write(_make_message(b"S", b"server_version\x0016.0\0"))
        writer.write(_make_message(b"S", b"client_encoding\0UTF8\0"))
        writer.write(_make_message(b"K", _PROCESS.to_bytes(4, "big") + bytes(4)))
        writer.write(_make_message(b"Z", _IDLE))

    async def _run_transaction(
        self,
        from_client: asyncio.Task[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> asyncio.Task[bytes]:
        """Pass on what both say until the transaction is over; return what reads what comes next."""
        while not self._free:
            self._returned.clear()
            await self._returned.wait()
        server = self._free.popleft()
        self.transactions += 1
        from_server = asyncio.create_task(_read_message(server.reader))
        unanswered = 0
        try:
            while True:
                await asyncio.wait((from_client, from_server), return_when=asyncio.FIRST_COMPLETED)
                if from_client.done():
                    message = from_client.result()
                    unanswered += message[:1] in _ANSWERED
                    server.writer.write(message)
                    from_client = asyncio.create_task(_read_message(reader))
                if from_server.done():
                    message = from_server.result()
                    writer.write(message)
                    if message[:1] == _READY:
                        unanswered -= 1
                        if not unanswered and message[-1:] == _IDLE:
                            return from_client
                    from_server = asyncio.create_task(_read_message(server.reader))
        finally:
            from_server.cancel()
            self._free.append(server)
            self._returned.set()


class _ServerSide:
    def __init__(
        self, connection: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connection = connection
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, dsn: str) -> _ServerSide:
        """Log in with asyncpg, and take its socket over."""
        connection: Any = await asyncpg.connect(dsn)
        transport = connection._transport
        transport.pause_reading()
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        transport.resume_reading()
        return cls(connection, reader, asyncio.StreamWriter(transport, protocol, reader, loop))


async def _read_message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(1 + _LENGTH)
    return head + await reader.readexactly(int.from_bytes(head[1:], "big") - _LENGTH)


def _make_message(kind: bytes, content: bytes) -> bytes:
    return kind + (len(content) + _LENGTH).to_bytes(_LENGTH, "big") + content
