"""Servers that commands are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox_world import PATH

from amplifier_modules.sandbox.command import Command, CommandRunner, RunningCommand

ECHO = """
import socket, sys, threading

def answer(client):
    with client:
        while piece := client.recv(65536):
            client.sendall(piece)
        client.sendall(b"over")

family = socket.AF_INET6 if sys.argv[1] == "::1" else socket.AF_INET
with socket.create_server((sys.argv[1], int(sys.argv[2])), family=family) as server:
    print(server.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
"""
"""Sends back what it gets, and a word after the end of that."""


@contextmanager
def serving(
    runner: CommandRunner, project: Path, program: str
) -> Iterator[tuple[RunningCommand, int]]:
    """Run a server, which writes its port first; yield it with that."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as output:
        text = f"exec {sys.executable} {program}"
        server = runner.start(Command(text, str(project), {"PATH": PATH}), write)
        os.close(write)
        try:
            yield server, int(output.readline())
        finally:
            server.kill()
            server.wait()


@contextmanager
def echoing(
    runner: CommandRunner, project: Path, address: str = "127.0.0.1", port: int = 0
) -> Iterator[tuple[RunningCommand, int]]:
    (project / "echo.py").write_text(ECHO)
    with serving(runner, project, f"echo.py {address} {port}") as served:
        yield served
