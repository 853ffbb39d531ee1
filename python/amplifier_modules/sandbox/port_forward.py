"""A port of a command, reached from the loopback of this machine."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from threading import Thread

from .connector import Connector
from .network.relay import Relay, Side, make_side

MAX_CONNECTIONS = 200
"""Connections at once; a further one is closed."""

_CONNECT_SECONDS = 10
_IDLE_SECONDS = 24 * 60 * 60
"""How long a connection may stay without a byte: pages hold some open as long as they are shown."""
_ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
"""Where servers listen that say `localhost`."""


class PortForward:
    """Passes connections to a port of this machine on to one in the network of commands.

    All are served in one thread, which opens no connection by itself: what is inside reaches
    nothing by it.
    """

    def __init__(self, port: int, connector: Connector) -> None:
        """Begin to listen.

        Args:
            port: The port inside, and the one here if it is free.
            connector: Makes sockets inside; it is closed with this.

        Raises:
            OSError: No port is free, or nothing can be made inside.
        """
        self._port = port
        self._connector = connector
        self._connections = 0
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        try:
            connector.make_socket(socket.AF_INET).close()
            self._listener = _listen(port)
        except BaseException:
            self._loop.close()
            connector.close()
            raise
        self.port: int = self._listener.getsockname()[1]
        """The port of this machine."""
        self._thread = Thread(target=self._run, name="amplifier-forward", daemon=True)
        self._thread.start()

    def is_answered(self) -> bool:
        """Whether something listens inside."""
        for family, address in _ADDRESSES:
            with suppress(OSError), self._connector.make_socket(family) as tried:
                tried.settimeout(_CONNECT_SECONDS)
                tried.connect((address, self._port))
                return True
        return False

    def close(self) -> None:
        """Close all connections and the port; returns when this is done, also where it is closed."""
        with suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._run_server())
        finally:
            self._connector.close()

    async def _run_server(self) -> None:
        server = await asyncio.start_server(self._serve_client, sock=self._listener)
        try:
            await self._closing.wait()
        finally:
            server.close()

    async def _serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        client = make_side(reader, writer)
        self._connections += 1
        try:
            if self._connections <= MAX_CONNECTIONS:
                with suppress(OSError):  # it is closed, which says as much
                    await self._relay_bytes(client)
        finally:
            self._connections -= 1
            writer.transport.abort()

    async def _relay_bytes(self, client: Side) -> None:
        """Move bytes until both sides have ended.

        Raises:
            OSError: Nothing listens inside, or a side was lost.
        """
        server = make_side(*await self._connect())
        try:
            await Relay(client, server, _IDLE_SECONDS).run_tunnel(None)
            await server.finish()
            await client.finish()
        finally:
            server.writer.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to what listens inside.

        Raises:
            OSError: Nothing does.
        """
        failure = OSError()
        for family, address in _ADDRESSES:
            try:
                return await self._connect_to(family, address)
            except OSError as error:
                failure = error
        raise failure

    async def _connect_to(
        self, family: socket.AddressFamily, address: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        # The process answers at once: nothing is waited for.
        made = self._connector.make_socket(family)
        try:
            made.setblocking(False)
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._loop.sock_connect(made, (address, self._port))
            return await asyncio.open_connection(sock=made)
        except BaseException:
            made.close()
            raise


def _listen(port: int) -> socket.socket:
    """Return a socket that listens at a port of the loopback: this one if it is free, else another.

    Raises:
        OSError: None is free.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # Else the port of a forward that has just ended is taken for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(128)
        except OSError:
            listener.close()
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.bind(("127.0.0.1", 0))
            listener.listen(128)
    except BaseException:
        listener.close()
        raise
    listener.setblocking(False)
    return listener
