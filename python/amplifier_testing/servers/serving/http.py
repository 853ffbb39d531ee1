"""Plain HTTP on a loopback port: a thread a connection, and a body in pieces."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Self, cast
from urllib.parse import parse_qsl, urlsplit

MAX_BODY_BYTES = 32 * 1024 * 1024
_IDLE_SECONDS = 60
_HEX = 16


@dataclass(frozen=True)
class HttpRequest:
    """A request as it came."""

    method: str
    path: str
    """The path without the query."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """The headers, their names in lower case."""
    raw: bytes
    """The body."""
    target: str = "/"
    """The path with the query, as it came."""

    @property
    def json(self) -> Any:
        """The body as JSON; None without one."""
        return json.loads(self.raw) if self.raw else None


@dataclass(frozen=True)
class Reply:
    """A response, and how its connection ends."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    pieces: Sequence[bytes | threading.Event] = ()
    """The body, in the pieces in which it is sent; at an event, its sending waits for that."""
    is_whole: bool = False
    """Send the length of the body first; else the body is chunked."""
    pause: float = 0
    """Seconds after each piece."""
    cut: int | None = None
    """Break the connection after so many bytes of the body; None for never."""
    stall: int | None = None
    """Send nothing more after so many bytes, and keep the connection; None for never."""
    hang_up: bool = False
    """Close the connection without a word."""
    silent: bool = False
    """Keep the connection, without a word."""

    @property
    def content(self) -> list[bytes]:
        """The pieces of the body, without the events between them."""
        return [piece for piece in self.pieces if isinstance(piece, bytes)]

    @classmethod
    def of(cls, body: bytes, kind: str = "text/event-stream", status: int = 200) -> Self:
        """Make the reply with this body and content type, whose length is sent first."""
        return cls(status, {"content-type": kind}, [body], is_whole=True)

    @classmethod
    def json(cls, value: Any, status: int = 200) -> Self:
        """Make the reply with this value as JSON."""
        return cls.of(json.dumps(value).encode(), "application/json", status)


class LoopbackServer(ThreadingHTTPServer):
    """Listens on a port of the loopback that the system chooses."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(
        self,
        respond: Callable[[HttpRequest], Reply],
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Open the port; `start` begins to answer."""
        self.respond = respond
        self.stopped = threading.Event()
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        super().__init__(("127.0.0.1", 0), _Handler)
        if ssl_context is not None:
            # The connection that ends the wait in `stop` shakes no hands.
            self.socket = ssl_context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = int(self.server_address[1])

    @property
    def address(self) -> str:
        """The address of the root."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        """How many connections are open."""
        with self._lock:
            return len(self._connections)

    def start(self) -> None:
        """Answer on a thread of its own."""
        self._thread = threading.Thread(target=self._accept, name="model-server", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop, and close all connections."""
        self.stopped.set()
        # A connection of our own ends the wait for one, at once and without polling.
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5):
            if self._thread is not None:
                self._thread.join()
        self.server_close()
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):  # it may be closed already
                    connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while not self.stopped.is_set():
            self.handle_request()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Take no connection after the end."""
        return not self.stopped.is_set()

    def server_bind(self) -> None:
        """Bind without asking the network for the name of this machine, as `HTTPServer` does."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Keep the connection, so that `stop` can close it."""
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error of a bug; a client that goes away is no bug."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS

    @property
    def loopback(self) -> LoopbackServer:
        return cast("LoopbackServer", self.server)

    def answer(self) -> None:
        raw = self.read_body()
        if raw is None:
            self.close_connection = True
            return
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        request = HttpRequest(self.command, parts.path, query, headers, raw, self.path)
        self.send(self.loopback.respond(request))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def read_body(self) -> bytes | None:
        """Read the body; `None` if it is cut off or larger than any dialect takes."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            return self.read_chunks()
        length = self.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.send_error(413)
            return None
        raw = self.rfile.read(int(length))
        return raw if len(raw) == int(length) else None

    def read_chunks(self) -> bytes | None:
        chunks: list[bytes] = []
        while True:
            try:
                size = int(self.rfile.readline().partition(b";")[0], _HEX)
            except ValueError:
                return None
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b"".join(chunks)

    def send(self, reply: Reply) -> None:
        if reply.silent:
            self.wait_for_the_end()
        if reply.silent or reply.hang_up:
            self.close_connection = True
            return
        self.send_response_only(reply.status)
        if not any(name.lower() == "date" for name in reply.headers):
            self.send_header("date", self.date_time_string())
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.is_whole:
            self.send_header("content-length", str(len(b"".join(reply.content))))
        else:
            self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self.command == "HEAD":
            return
        ends = [limit for limit in (reply.cut, reply.stall) if limit is not None]
        self.send_body(reply, min(ends, default=None))
        if ends:
            if reply.cut is None:
                self.wait_for_the_end()
            self.close_connection = True

    def send_body(self, reply: Reply, limit: int | None) -> None:
        sent = 0
        for piece in reply.pieces:
            if isinstance(piece, threading.Event):
                piece.wait(_IDLE_SECONDS)
                continue
            part = piece if limit is None else piece[: limit - sent]
            if part:
                framed = part if reply.is_whole else b"%x\r\n%b\r\n" % (len(part), part)
                self.wfile.write(framed)
                sent += len(part)
            if limit is not None and sent >= limit:
                return
            if reply.pause and self.loopback.stopped.wait(reply.pause):
                self.close_connection = True
                return
        if not reply.is_whole and limit is None:
            self.wfile.write(b"0\r\n\r\n")

    def wait_for_the_end(self) -> None:
        """Wait until the client goes, or the server is stopped."""
        self.connection.settimeout(None)
        while self.connection.recv(1024):
            pass

    def log_message(self, format: str, *arguments: Any) -> None:
        """Stay silent: standard error belongs to the tests."""
