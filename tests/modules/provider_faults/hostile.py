"""A server on the loopback that writes what it likes, without end if it likes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator

Writer = Callable[[], Iterable[bytes]]
"""Returns what is sent on one connection, until the client goes."""


class Hostile:
    """What a server was sent."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.received: list[bytes] = []
        self.connections = 0


@contextlib.contextmanager
def hostile(write: Writer) -> Generator[Hostile]:
    """Answer each connection with what `write` returns, once something came."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        seen = Hostile(f"http://127.0.0.1:{server.getsockname()[1]}")
        opened: list[socket.socket] = []

        def answer(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection:
                seen.received.append(connection.recv(65_536))
                for piece in write():
                    connection.sendall(piece)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    seen.connections += 1
                    opened.append(connection)
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield seen
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        for connection in opened:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def head(status: int = 200, **headers: str) -> bytes:
    """The beginning of a response; underscores in the names of headers are hyphens."""
    lines = [f"HTTP/1.1 {status} OK"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode()


def endless(start: bytes, piece: bytes) -> Writer:
    """A writer that never stops."""

    def write() -> Iterator[bytes]:
        yield start
        while True:
            yield piece

    return write
