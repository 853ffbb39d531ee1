"""A model server for many clients at once, in a process whose CPU time counts for nobody.

It speaks Chat Completions, over HTTP on one port and over TLS on another. `/short` answers at once
with a few deltas. `/held` is for streams that go on at the same time: when as many have asked as a
conductor said, each gets a delta in turn, in a TCP segment of its own, and the next one when the client
sleeps, for it has done with all before. So each delta is one write of the server and one read of the
client, however slow that is. Linux alone says whether a process sleeps.

A conductor is a connection whose first line is `STREAMS DELTAS PROCESS`. The server says there `ready`,
`begun` when each stream has had its first delta, and `written` when it has had the last; it goes on at
each line that it gets. A connection whose first line is `handshakes` gets the number of TLS handshakes.
"""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from model_server import document, written

SHORT = 5
"""Deltas of a short answer."""
PAUSE = 0.001
"""Seconds between two looks at the client."""
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


class Group:
    """Streams that get their deltas in turn."""

    def __init__(self, streams: int, process: int) -> None:
        self.size = streams
        self.process = process
        self.writers: list[asyncio.StreamWriter] = []
        self.is_full = asyncio.Event()
        self.is_over = asyncio.Event()

    async def join(self, writer: asyncio.StreamWriter) -> None:
        """Take a stream, and wait for its end."""
        self.writers.append(writer)
        if len(self.writers) == self.size:
            self.is_full.set()
        await self.is_over.wait()

    async def write(self, piece: bytes) -> None:
        """Write to each stream, and wait until the client has done with it all."""
        for writer in self.writers:
            writer.write(piece)
        await asyncio.sleep(PAUSE)
        while not is_asleep(self.process):  # noqa: ASYNC110 -- nothing tells of it
            await asyncio.sleep(PAUSE)


def is_asleep(process: int) -> bool:
    """Whether the main thread of a process waits for something, as Linux knows it."""
    with open(f"/proc/{process}/stat") as state:
        return state.read().rpartition(")")[2].split()[0] == "S"


def enclose(event: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(event), event)


class Server:
    """Answers requests, and counts handshakes."""

    def __init__(self) -> None:
        self.handshakes = 0
        self.group = Group(0, 0)
        events = b"".join(map(enclose, written("chat", "each", SHORT)))
        body = document("chat", SHORT)
        self.short = HEAD + events + END
        self.whole = (
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
            % (len(body), body)
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer every request of a connection, or obey a conductor."""
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.handshakes += writer.get_extra_info("ssl_object") is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while first := (await reader.readuntil(b"\n")).decode():
                if first == "handshakes\n":
                    writer.write(b"%d\n" % self.handshakes)
                elif first.startswith("POST "):
                    await self.answer(first, reader, writer)
                else:
                    await self.conduct(*map(int, first.split()), reader, writer)
        writer.close()

    async def answer(
        self, first: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = head.partition("content-length:")[2].partition("\r\n")[0]
        request = json.loads(await reader.readexactly(int(length)))
        if first.startswith("POST /held/"):
            await self.group.join(writer)
        else:
            writer.write(self.short if request.get("stream") else self.whole)

    async def conduct(
        self,
        streams: int,
        deltas: int,
        process: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Write the deltas of a group."""
        group = self.group = Group(streams, process)
        writer.write(b"ready\n")
        await group.is_full.wait()
        pieces = list(map(enclose, written("chat", "each", deltas)))
        await group.write(HEAD + pieces[0])
        writer.write(b"begun\n")
        await reader.readline()
        for piece in pieces[1:deltas]:
            await group.write(piece)
        writer.write(b"written\n")
        await reader.readline()
        for stream in group.writers:
            stream.write(b"".join(pieces[deltas:]) + END)
        group.is_over.set()


async def main(certificate: str, key: str) -> None:
    """Listen, and say where."""
    allow_many_files()
    server = Server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    for each in (None, context):
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=each, backlog=4096)
        print(listener.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


def allow_many_files() -> None:
    """Raise the limit of open files, connections among them, to what the system allows."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def make_certificate(folder: Path) -> None:
    """Write a certificate, its key, and the usual authorities with it beside them."""
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    files = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"))
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    subprocess.run(
        ["openssl", "req", "-x509", "-days", "2", *curve, *names, *files],
        check=True,
        capture_output=True,
    )
    usual = ssl.get_default_verify_paths().cafile
    authorities = Path(usual).read_bytes() if usual else b""
    (folder / "authorities.pem").write_bytes(
        authorities + (folder / "certificate.pem").read_bytes()
    )


@contextmanager
def service_server() -> Iterator[tuple[int, int, str]]:
    """Its port, its port of TLS and the file of authorities; all ends with the context."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_certificate(folder)
        command = [sys.executable, __file__, folder / "certificate.pem", folder / "key.pem"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                ports = [int(process.stdout.readline()) for _ in range(2)]
                yield ports[0], ports[1], str(folder / "authorities.pem")
            finally:
                process.terminate()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main(*sys.argv[1:]))
