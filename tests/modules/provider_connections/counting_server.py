"""A server of Chat Completions that counts its connections, and does with them what a test wants."""

from __future__ import annotations

import datetime
import ipaddress
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

ANSWER = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}  # fmt: skip

Deed = Literal["answer", "refuse", "close", "reset"]
"""What becomes of a request: its answer, a 401, an answer after which the server closes, or RST."""


@dataclass(frozen=True)
class Seen:
    """A request that came in."""

    connection: int
    target: str
    headers: Mapping[str, str]


@dataclass
class CountingServer:
    """What came in; `deed` says what becomes of each request."""

    port: int = 0
    scheme: str = "http"
    connections: int = 0
    """How many were made: with TLS, how many handshakes there were."""
    open: int = 0
    seen: list[Seen] = field(default_factory=list[Seen])
    deed: Callable[[Seen], Deed] = lambda seen: "answer"
    cookie: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/v1"

    def config(self, key: str = "key", **settings: Any) -> dict[str, Any]:
        """The config of a provider that asks it."""
        known = {"base_url": self.url, "api_key": key, "default_model": "m"}
        return {
            **known,
            "use_streaming": False,
            "prices": {"m": {"input": 1, "output": 1}},
            **settings,
        }

    def serve(self, connection: socket.socket, number: int) -> None:
        reader = connection.makefile("rb")
        while (line := reader.readline()).strip():
            target = line.split()[1].decode()
            headers: dict[str, str] = {}
            while (line := reader.readline()).strip():
                name, _, value = line.decode().partition(":")
                headers[name.lower()] = value.strip()
            reader.read(int(headers.get("content-length", 0)))
            seen = Seen(number, target, headers)
            with self.lock:
                self.seen.append(seen)
            deed = self.deed(seen)
            if deed == "reset":
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return
            status, body = ("401 Unauthorized", b"{}") if deed == "refuse" else ("200 OK", None)
            body = json.dumps(ANSWER).encode() if body is None else body
            head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
            if self.cookie is not None:
                head += f"set-cookie: {self.cookie}\r\n"
            connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            if deed == "close":
                return


@contextmanager
def counting_server(
    context: ssl.SSLContext | None = None, deed: Callable[[Seen], Deed] = lambda seen: "answer"
) -> Iterator[CountingServer]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    scheme = "http" if context is None else "https"
    server = CountingServer(listener.getsockname()[1], scheme, deed=deed)
    sockets: set[socket.socket] = set()

    def serve(plain: socket.socket, number: int) -> None:
        with suppress(OSError), plain:
            if context is None:
                server.serve(plain, number)
            else:
                with context.wrap_socket(plain, server_side=True) as encrypted:
                    server.serve(encrypted, number)
        with server.lock:
            server.open -= 1

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                sockets.add(connection)
                with server.lock:
                    server.connections += 1
                    server.open += 1
                    number = server.connections
                thread = threading.Thread(target=serve, args=(connection, number), daemon=True)
                thread.start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def make_certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Return the context of a server on this machine, and the file with its authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    local = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(local, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    authority, whole = folder / "authority.pem", folder / "server.pem"
    authority.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    whole.write_bytes(private + authority.read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(whole)
    return context, authority
