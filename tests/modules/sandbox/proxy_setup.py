"""A proxy before servers on loopback ports, whose names are looked up in a table."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from amplifier_modules.sandbox.network.rules import HostRules, ListedHosts
from amplifier_modules.sandbox.proxy import HostProxy, ProxyLimits

SECONDS = 20
"""After so long a client gives up, and its test fails."""


@dataclass
class Names:
    """What is looked up, and what for."""

    addresses: dict[str, list[str]]
    asked: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def look_up(self, host: str, port: int) -> list[str]:
        self.asked.append((host, port))
        return self.addresses.get(host, [])


@dataclass
class Setup:
    """A proxy and its port."""

    proxy: HostProxy
    port: int
    names: Names

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), SECONDS)

    def exchange(self, sent: bytes) -> bytes:
        """Send bytes, and read until the proxy hangs up."""
        with self.connect() as client:
            client.sendall(sent)
            return read_all(client)

    def open_tunnel(self, target: str) -> socket.socket:
        """Connect through the proxy; the bytes that follow are the server's."""
        client = self.connect()
        client.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        assert read_head(client).startswith(b"HTTP/1.1 200 ")
        return client


@contextmanager
def start_proxy(
    rules: HostRules | Sequence[str] = (),
    names: dict[str, list[str]] | None = None,
    limits: ProxyLimits | None = None,
    look_up: Callable[[str, int], list[str]] | None = None,
) -> Generator[Setup]:
    """Run a proxy; the names beneath `example` lead to this machine."""
    table = Names({"shop.example": ["127.0.0.1"], "cdn.example": ["127.0.0.1"], **(names or {})})
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    proxy = HostProxy(
        listener,
        ListedHosts(rules) if isinstance(rules, Sequence) else rules,
        limits=limits,
        look_up=look_up or table.look_up,
    )
    try:
        yield Setup(proxy, port, table)
    finally:
        proxy.close()


def list_server(port: int) -> list[str]:
    """The entries that allow a server on a loopback port, under the names of `start_proxy`."""
    return [f"{host}:{port}" for host in ("shop.example", "cdn.example", "127.0.0.1")]


@contextmanager
def serve(answer: Callable[[socket.socket], object]) -> Generator[int]:
    """Let a function answer each connection to a port, in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def run(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(SECONDS)
            try:
                answer(connection)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=run, args=(connection,), daemon=True))
            threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        listener.close()
        for thread in threads:
            thread.join()


def read_all(client: socket.socket) -> bytes:
    pieces: list[bytes] = []
    while piece := client.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def read_head(client: socket.socket) -> bytes:
    """Read the head of an answer, and nothing behind it."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        assert byte, head
        head += byte
    return head


def make_hello(name: str | None) -> bytes:
    """What a client of TLS sends first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()
