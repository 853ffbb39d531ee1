"""An interpreter that has imported the libraries; programs run in forks of it.

Four fifths of the time of a short program are imports. A fork has them behind it, and all else of its own: its
arguments, environment, folder and streams, its exit code. The command and the one-call client are imported in
the fork: what they do when they are imported, they do there.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import pty
import runpy
import socket
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

IMPORTED = (
    "amplifier_agent.observer",
    "amplifier_agent.session",
    "amplifier_core.loader",
    "amplifier_guard.guarded_call",
    "amplifier_guard.redact",
    "amplifier_modules.changes.asked.change_question",
    "amplifier_modules.contexts.simple",
    "amplifier_modules.hooks.approval",
    "amplifier_modules.hooks.guard",
    "amplifier_modules.loops.answers.calls",
    "amplifier_modules.loops.kept_turn",
    "amplifier_modules.loops.streaming",
    "amplifier_modules.spawn.task",
    "amplifier_modules.stores.mounting",
    "amplifier_modules.stores.recording",
    "amplifier_modules.stores.restoring",
    "amplifier_modules.stores.sqlite.store",
    "amplifier_modules.tool.reading_commands",
    "amplifier_modules.tools.bash.bash_tool",
    "amplifier_modules.tools.filesystem",
    "amplifier_modules.tools.search",
    "amplifier_providers.answers.gathered_answer",
    "amplifier_providers.anthropic.provider",
    "amplifier_providers.demo",
    "amplifier_providers.ollama",
    "amplifier_providers.openai.provider",
    "amplifier_providers.openai_chat.provider",
    "amplifier_providers.scripted",
    "amplifier_stream.process",
    "anyio._backends._asyncio",
    "click",
    "docstring_parser",
    "httpcore2._async.connection_pool",
    "httpcore2._async.http11",
    "httpx2",
    "platformdirs.unix",
    "pydantic.dataclasses",
    "rich.console",
    "rich.markdown",
    "truststore",
)
IN_A_TERMINAL = ("prompt_toolkit",)
"""What is imported for programs in a terminal, too."""

PYTHON = (sys.executable, "-W", "error")
READ_AT_START = ("PYTHON", "AMPLIFIER_")
"""How the variables begin that are read before a program is."""


class Interpreters:
    """Runs programs: in forks, where more than one has the environment that Python itself reads."""

    def __init__(self) -> None:
        self._warm: dict[tuple[bool, frozenset[tuple[str, str]]], WarmInterpreter | None] = {}
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
        warm = None if has_options else self.find_warm(env)
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

    def find_warm(
        self, env: Mapping[str, str], *, in_terminal: bool = False
    ) -> WarmInterpreter | None:
        """The one for this environment; None where it is the first time, which often is the last."""
        read = frozenset(each for each in env.items() if each[0].startswith(READ_AT_START))
        key = in_terminal, read
        with self._lock:
            if key not in self._warm:
                self._warm[key] = None
            elif self._warm[key] is None:
                self._warm[key] = WarmInterpreter(env, in_terminal=in_terminal)
            return self._warm[key]

    def close(self) -> None:
        """End the interpreters."""
        for warm in filter(None, self._warm.values()):
            warm.close()


class WarmInterpreter:
    """Runs programs in forks of one process."""

    def __init__(self, environment: Mapping[str, str], *, in_terminal: bool = False) -> None:
        self._connection, theirs = socket.socketpair()
        # What the streams of a program are: what Python keeps of a stream stays true.
        self._terminal = pty.openpty() if in_terminal else ()
        streams = self._terminal[-1] if self._terminal else subprocess.PIPE
        with theirs:
            self._process = subprocess.Popen(
                [*PYTHON, __file__, str(theirs.fileno())],
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=streams,
                stdout=streams,
                stderr=streams,
            )

    def run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        input: bytes | None,
    ) -> tuple[int, bytes, bytes]:
        """Run a program; returns its exit code and what it wrote to its two streams."""
        with ExitStack() as files, ThreadPoolExecutor(2) as threads:
            stdin, to_stdin = os.pipe()
            outputs = [os.pipe() for _ in range(2)]
            theirs = [stdin, *(written for _, written in outputs)]
            if input is None:
                theirs[0] = files.enter_context(Path(os.devnull).open("rb")).fileno()
            program = self.start(arguments, environment, folder, theirs)
            for number in (stdin, *(written for _, written in outputs)):
                os.close(number)
            stdout, stderr = (threads.submit(_read, number) for number, _ in outputs)
            with suppress(BrokenPipeError), os.fdopen(to_stdin, "wb") as writer:
                writer.write(input or b"")  # which nobody must read
            return program.wait(), stdout.result(), stderr.result()

    def start(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        streams: Sequence[int],
    ) -> Program:
        """Start a program with these streams, in a session of its own if they are a terminal."""
        with tempfile.TemporaryFile() as request:
            request.write(json.dumps([arguments, dict(environment), str(folder)]).encode())
            request.flush()
            reader, writer = os.pipe()
            socket.send_fds(self._connection, [b"."], [request.fileno(), *streams, writer])
            os.close(writer)
        return Program(reader)

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.communicate()
        for number in self._terminal:
            os.close(number)


class Program:
    """A program in a fork."""

    def __init__(self, said_of_it: int) -> None:
        """Wait until it runs.

        Args:
            said_of_it: Where its process id is read from, and its exit code once it has ended.
        """
        self._file = os.fdopen(said_of_it, "rb")
        self.pid = self._read_number()

    def wait(self) -> int:
        """Wait for its end; returns the exit code."""
        with self._file:
            return self._read_number()

    def _read_number(self) -> int:
        line = self._file.readline()
        assert line, "the interpreter is gone"
        return int(line)


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
        os.write(code, b"%d\n" % program)
        _, status = os.waitpid(program, 0)
        os.write(code, b"%d\n" % os.waitstatus_to_exitcode(status))
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
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
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
    for name in (*IMPORTED, *(IN_A_TERMINAL if os.isatty(0) else ())):
        importlib.import_module(name)
    # A collection in a fork, and there are some when it ends, would copy all of that.
    gc.freeze()
    if given := _wait_for_requests(socket.socket(fileno=int(sys.argv[1]))):
        _run(given)
