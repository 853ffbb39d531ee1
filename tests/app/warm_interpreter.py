"""An interpreter that has imported the libraries; the command runs in forks of it.

Four fifths of the time of a command are imports. A fork has them behind it, and all else of its own: its
arguments, environment, folder and streams, its exit code. The application itself is imported in the fork, as
it reads the environment when it is imported.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

IMPORTED = (
    "amplifier_agent.session",
    "amplifier_core.loader",
    "amplifier_guard.guarded_call",
    "amplifier_guard.redact",
    "amplifier_modules.contexts.simple",
    "amplifier_modules.hooks.guard",
    "amplifier_modules.loops.answers.calls",
    "amplifier_modules.loops.streaming",
    "amplifier_modules.spawn.task",
    "amplifier_modules.tools.filesystem",
    "amplifier_modules.tools.search",
    "amplifier_providers.answers.gathered_answer",
    "amplifier_providers.anthropic.provider",
    "amplifier_providers.demo",
    "amplifier_providers.ollama",
    "amplifier_providers.openai.provider",
    "amplifier_providers.openai_chat.provider",
    "amplifier_stream.process",
    "anyio._backends._asyncio",
    "click",
    "httpcore2._async.connection_pool",
    "httpcore2._async.http11",
    "httpx2",
    "pydantic.dataclasses",
    "rich.console",
    "rich.markdown",
    "truststore",
)


class WarmInterpreter:
    """Runs the command in forks of one process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env=environment,
                pass_fds=[theirs.fileno()],
                # Pipes, as the streams of a command are: what Python keeps of a stream stays true.
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        input: bytes | None,
    ) -> tuple[int, bytes, bytes]:
        """Run the command; returns its exit code and what it wrote to its two streams."""
        with ExitStack() as files, ThreadPoolExecutor(3) as threads:
            request = files.enter_context(tempfile.TemporaryFile())
            request.write(json.dumps([arguments, dict(environment), str(folder)]).encode())
            request.flush()
            stdin, to_stdin = os.pipe()
            outputs = [os.pipe() for _ in range(3)]
            theirs = [request.fileno(), stdin, *(written for _, written in outputs)]
            if input is None:
                theirs[1] = files.enter_context(Path(os.devnull).open("rb")).fileno()
            socket.send_fds(self._connection, [b"."], theirs)
            for number in (stdin, *(written for _, written in outputs)):
                os.close(number)
            stdout, stderr, code = (threads.submit(_read, number) for number, _ in outputs)
            with os.fdopen(to_stdin, "wb") as writer:
                writer.write(input or b"")
            assert code.result(), "the interpreter is gone"
            return int(code.result()), stdout.result(), stderr.result()

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.communicate()


def _read(number: int) -> bytes:
    with os.fdopen(number, "rb") as file:
        return file.read()


def _wait_for_requests(connection: socket.socket) -> bool:
    """Fork for each request; returns True in the fork that is to be the command."""
    while True:
        _, files, *_ = socket.recv_fds(connection, 1, 5)
        if not files:
            return False
        # One fork waits for the other, so that many can run at the same time.
        if os.fork():
            for number in files:
                os.close(number)
            _forget_ended_forks()
            continue
        connection.close()
        *streams, code = files
        if (command := os.fork()) == 0:
            os.close(code)
            _become_command(*streams)
            return True
        for number in streams:
            os.close(number)
        _, status = os.waitpid(command, 0)
        os.write(code, b"%d" % os.waitstatus_to_exitcode(status))
        os._exit(0)


def _forget_ended_forks() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become_command(request: int, stdin: int, stdout: int, stderr: int) -> None:
    with os.fdopen(request) as file:
        file.seek(0)
        arguments, environment, folder = json.load(file)
    for number, stream in enumerate((stdin, stdout, stderr)):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    sys.path[0] = folder  # as `python -m` has it


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    if _wait_for_requests(socket.socket(fileno=int(sys.argv[1]))):
        from amplifier_app.cli import main

        main()
