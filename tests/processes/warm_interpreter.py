"""An interpreter that has imported the libraries; programs run in forks of it.

Four fifths of the time of a short program are imports. A fork has them behind it, and all else of its own: its
arguments, environment, folder and streams, its exit code. The command and the one-call client are imported in
the fork: what they do when they are imported, they do there.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
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


PYTHON = (sys.executable, "-W", "error")
READ_AT_START = ("PYTHON", "AMPLIFIER_")
"""How the variables begin that are read before a program is."""


class Interpreters:
    """Runs programs: in forks, where more than one has the environment that Python itself reads."""

    def __init__(self) -> None:
        self._warm: dict[frozenset[tuple[str, str]], WarmInterpreter | None] = {}
        self._lock = threading.Lock()

    def run(
        self,
        *arguments: str,
        env: Mapping[str, str],
        cwd: Path,
        input: bytes | None = None,
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[str]:
        """Run `python` with these arguments, a module after `-m` or a script first; a warning is an error."""
        has_options = arguments[0].startswith("-") and arguments[0] != "-m"
        warm = None if has_options else self._find(env)
        if warm is not None:
            code, out, err = warm.run(arguments, env, cwd, input)
            return subprocess.CompletedProcess([*arguments], code, out.decode(), err.decode())
        done = subprocess.run(
            [*PYTHON, *arguments],
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            check=False,
            env=env,
            cwd=cwd,
            timeout=timeout,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def _find(self, env: Mapping[str, str]) -> WarmInterpreter | None:
        """The one for this environment; None where it is the first time, which often is the last."""
        key = frozenset(each for each in env.items() if each[0].startswith(READ_AT_START))
        with self._lock:
            if key not in self._warm:
                self._warm[key] = None
            elif self._warm[key] is None:
                self._warm[key] = WarmInterpreter(env)
            return self._warm[key]

    def close(self) -> None:
        """End the interpreters."""
        for warm in filter(None, self._warm.values()):
            warm.close()


class WarmInterpreter:
    """Runs programs in forks of one process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*PYTHON, __file__, str(theirs.fileno())],
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
        """Run a program; returns its exit code and what it wrote to its two streams."""
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
            with suppress(BrokenPipeError), os.fdopen(to_stdin, "wb") as writer:
                writer.write(input or b"")  # which nobody must read
            assert code.result(), "the interpreter is gone"
            return int(code.result()), stdout.result(), stderr.result()

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.communicate()


def _read(number: int) -> bytes:
    with os.fdopen(number, "rb") as file:
        return file.read()


def _wait_for_requests(connection: socket.socket) -> list[str]:
    """Fork for each request; returns the arguments in the fork that is to run them, else nothing."""
    while True:
        _, files, *_ = socket.recv_fds(connection, 1, 5)
        if not files:
            return []
        # One fork waits for the other, so that many can run at the same time.
        if os.fork():
            for number in files:
                os.close(number)
            _forget_ended_forks()
            continue
        connection.close()
        *streams, code = files
        if (program := os.fork()) == 0:
            os.close(code)
            return _become_program(*streams)
        for number in streams:
            os.close(number)
        _, status = os.waitpid(program, 0)
        os.write(code, b"%d" % os.waitstatus_to_exitcode(status))
        os._exit(0)


def _forget_ended_forks() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become_program(request: int, stdin: int, stdout: int, stderr: int) -> list[str]:
    with os.fdopen(request) as file:
        file.seek(0)
        arguments, environment, folder = json.load(file)
    for number, stream in enumerate((stdin, stdout, stderr)):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return arguments


def _run(arguments: list[str]) -> None:
    """Run a module after `-m`, or a script, as the interpreter would."""
    if arguments[0] == "-m":
        sys.argv, sys.path[0] = arguments[1:], os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    path = Path(arguments[0])
    sys.argv, sys.path[0] = arguments, str(path.resolve().parent)
    main = vars(sys.modules["__main__"])
    for name in [name for name in main if not name.startswith("__")]:
        del main[name]
    main.update(__file__=arguments[0], __doc__=None)
    exec(compile(path.read_bytes(), arguments[0], "exec"), main)  # noqa: S102


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    # A collection in a fork, and there are some when it ends, would copy all of that.
    gc.freeze()
    if given := _wait_for_requests(socket.socket(fileno=int(sys.argv[1]))):
        _run(given)
