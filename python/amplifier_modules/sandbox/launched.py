"""A command that a launcher has started: what the agent's side of its socket says and hears."""

from __future__ import annotations

import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.abc import InspectLoader
from importlib.util import find_spec
from threading import Lock
from typing import Any

from .command import Ending, LaunchError
from .listening_ports import find_listening_ports
from .network.refusals import Refusals

_START = (
    "import _socket, marshal, posix; control = _socket.socket(fileno=posix.dup(0)); "
    "length = int.from_bytes(control.recv(8, _socket.MSG_WAITALL), 'little'); "
    "plan = marshal.loads(control.recv(length, _socket.MSG_WAITALL)); "
    "exec(marshal.loads(plan['program'])); start(plan)"
)
"""Starts the program of the plan that is sent: compiled, as to compile it takes milliseconds."""
_LENGTH_BYTES = 8
_READ_BYTES = 65_536
_MAX_FILES = 3
_HOLD, _RELEASE = b"+", b"-"


class LaunchedCommand:
    """A running command, and the launcher that it ends with."""

    def __init__(self, output: int, passed: Sequence[int] = ()) -> None:
        """Start a launcher, which waits for a plan.

        Args:
            output: The file descriptor that the command writes to.
            passed: Files that the launcher finds under the same numbers.

        Raises:
            LaunchError: The launcher cannot be started.
        """
        self._waiting = Lock()
        self._ending: Ending | LaunchError | None = None
        self._is_killed = False
        self.files: list[int] = []
        """What came with `namespaces`, after the wait: theirs, and a socket that listens in them."""
        self.refusals: Refusals | None = None
        """Takes the hosts that are refused while it runs."""
        self._control, theirs = socket.socketpair()
        with theirs:
            try:
                self._launcher = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-B", "-c", _START],
                    stdin=theirs.fileno(),
                    stdout=output,
                    stderr=output,
                    cwd="/",
                    env=find_libraries(),
                    pass_fds=passed,
                    start_new_session=True,
                )
            except OSError as error:
                self._control.close()
                raise LaunchError(f"cannot start `{sys.executable}`: {error}") from error

    def send(self, plan: Mapping[str, Any]) -> None:
        """Send the plan, and the program `launch.py` with it."""
        content = marshal.dumps({**plan, "program": _compile_launch()})
        with suppress(BrokenPipeError, ConnectionResetError):  # the wait says why
            self._control.sendall(len(content).to_bytes(_LENGTH_BYTES, "little") + content)

    def wait(self) -> Ending:
        """Wait until the command and all that it began has ended.

        Raises:
            LaunchError: It could not be started after all.
        """
        with self._waiting:
            if self._ending is None:
                self._ending = self._read_ending()
        if isinstance(self._ending, LaunchError):
            raise self._ending
        return self._ending

    def kill(self) -> None:
        """End the command and all that it began; returns at once, also where it has ended."""
        self._is_killed = True
        with suppress(OSError):  # it has ended
            self._control.shutdown(socket.SHUT_WR)

    @contextmanager
    def hold_time(self) -> Generator[None]:
        """Let no time pass for the command in a block; it runs on."""
        self._tell(_HOLD)
        try:
            yield
        finally:
            self._tell(_RELEASE)

    def abandon(self) -> None:
        """End a launcher that got no plan, and leave nothing of it."""
        self._control.close()
        self._launcher.kill()
        self._launcher.wait()

    def list_ports(self) -> list[int]:
        """Return the ports at which it or what it began listens, as far as that is known."""
        is_over = self._launcher.returncode is not None
        return [] if is_over else find_listening_ports(self._launcher.pid)

    def _tell(self, word: bytes) -> None:
        with suppress(OSError):  # it has ended
            self._control.sendall(word)

    def _read_ending(self) -> Ending | LaunchError:
        records: dict[bytes, list[bytes]] = {}
        for record in self._read_records().split(b"\0"):
            kind, _, value = record.partition(b" ")
            records.setdefault(kind, []).append(value)
        if b"failed" in records:
            return LaunchError(records[b"failed"][0].decode("utf-8", "replace"))
        is_ended = self._is_killed or b"timeout" in records
        if not is_ended and b"started" not in records:
            code = self._launcher.returncode
            return LaunchError(
                f"the sandbox did not start the command: its launcher ended with exit code {code}"
            )
        code, number = records.get(b"exit"), records.get(b"signal")
        directory = records.get(b"directory")
        return Ending(
            int(code[0]) if code else None,
            int(number[0]) if number else None,
            timed_out=b"timeout" in records,
            directory=os.fsdecode(directory[0]) if directory else None,
            removed=tuple(os.fsdecode(path) for path in records.get(b"removed", ())),
            refused=tuple(self.refusals.list_reasons()) if self.refusals else (),
        )

    def _read_records(self) -> bytes:
        """Return all that the launcher sends until it ends."""
        records = b""
        with self._control:
            while True:
                with suppress(ConnectionResetError):
                    read, files, _, _ = socket.recv_fds(self._control, _READ_BYTES, _MAX_FILES)
                    self.files += files
                    records += read
                    if read:
                        continue
                break
        self._launcher.wait()
        return records


@cache
def _compile_launch() -> bytes:
    """Return the program of a launch as `marshal` writes it, from the cache of the interpreter."""
    name = f"{__package__}.launch"
    spec = find_spec(name)
    if spec is None or not isinstance(spec.loader, InspectLoader):
        raise LaunchError(f"cannot find `{name}`")
    return marshal.dumps(spec.loader.get_code(name))


def find_libraries() -> dict[str, str]:
    """Return what some interpreters need to start, and nothing else of our environment."""
    names = ("LD_LIBRARY_PATH",)
    return {name: os.environ[name] for name in names if name in os.environ}
