"""A server in a process of its own, which can be killed as a machine that fails is."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

Moment = Literal["before", "middle", "never"]
"""When it stops to answer: before the answer, in the middle of it, or never."""
_OPEN = ("01", "08")
"""As the kernel writes it: established, and closed by the other side alone."""
_PROGRAM = r"""
import json, socket, sys, threading
moment, port = sys.argv[1], int(sys.argv[2])

def chunk(**choice):
    said = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    text = json.dumps({**said, "choices": [{"index": 0, **choice}]})
    return f"data: {text}\n\n".encode()

def packed(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"

begin = chunk(delta={"role": "assistant", "content": "Hel"}, finish_reason=None)
end = chunk(delta={"content": "lo"}, finish_reason="stop") + b"data: [DONE]\n\n"
def answer(connection):
    with connection, connection.makefile("rb") as lines:
        while line := lines.readline():
            length = 0
            while line.strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
                line = lines.readline()
            lines.read(length)
            if moment != "before":
                head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                connection.sendall(head + b"transfer-encoding: chunked\r\n\r\n" + packed(begin))
            if moment == "never":
                connection.sendall(packed(end) + packed(b""))
                continue
            print("asked", flush=True)
            lines.read()  # until the client goes

server = socket.create_server(("127.0.0.1", port))
print(server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
"""


class KilledServer:
    """A server of Chat Completions that says `Hello`."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v1"
        self._process = process

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        self._process.kill()
        self._process.wait()

    @contextmanager
    def killed_once_asked(self) -> Generator[None]:
        """Kill it as soon as it stops to answer."""

        def wait() -> None:
            assert self._process.stdout is not None
            self._process.stdout.readline()
            self.kill()

        thread = threading.Thread(target=wait)
        thread.start()
        try:
            yield
        finally:
            self.kill()
            thread.join()

    @property
    def connections(self) -> int:
        """How many connections to it this process still has."""
        rows = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
        there = f"0100007F:{self.port:04X}"
        return sum(row[2] == there and row[3] in _OPEN for row in rows)


@contextmanager
def serving(moment: Moment, port: int = 0) -> Generator[KilledServer]:
    """Run a server, on this port if it must be that one."""
    arguments = [sys.executable, "-c", _PROGRAM, moment, str(port)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield KilledServer(process, int(process.stdout.readline()))
        finally:
            process.kill()
