"""The command in a pseudo-terminal, and what is on its screen."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import termios
from typing import Any

from warm_interpreter import Program

PATIENCE = 60
"""Seconds after which a test that waits has failed."""

CTRL_C = b"\x03"
WAY_BACK = re.compile(r"\n?`amplifier-core\s--resume\s([0-9a-f]{8})`\sgoes\son\sfrom\shere\n?$")
"""The last line, with an id that is another one each time."""

BELOW = re.compile(
    r"\r\x1b\[\?7l.*?\x1b\[\?7h(?:\x1b\[\d+A)?\r(?:\r \x1b\[J\r\x1b\[K)?|\r \x1b\[J\r\x1b\[K",
    re.DOTALL,
)
"""What is drawn below the last line, and what erases that."""


class Terminal:
    """The command in a terminal of its own."""

    def __init__(
        self, command: Any, *arguments: str, columns: int = 80, shell: str | None = None
    ) -> None:
        """Start it.

        Args:
            command: What runs, in which folder and environment.
            *arguments: Those of the command.
            columns: The width of the terminal.
            shell: A shell script that runs it instead, as `"$@"`.
        """
        self.written = ""
        """All that was written to the terminal."""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._program: Program | None = None
        line = [*command.line, *arguments]
        size = struct.pack("HHHH", 24, columns, 0, 0)
        if shell is not None:
            line = ["/bin/bash", "-c", shell, "bash", *line]
        elif warm := command.interpreters.find_warm(command.environment, in_terminal=True):
            self._master, streams = pty.openpty()
            fcntl.ioctl(streams, termios.TIOCSWINSZ, size)
            self._program = warm.start(line[1:], command.environment, command.folder, [streams] * 3)
            os.close(streams)
            self.pid = self._program.pid
            return
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            os.chdir(command.folder)
            os.execve(line[0], line, command.environment)

    @property
    def screen(self) -> str:
        """What is on the screen, but for the line that says how the session goes on."""
        return WAY_BACK.sub("\n", self.whole_screen)

    @property
    def whole_screen(self) -> str:
        """The lines of the screen and its scrollback, without styles and what was erased."""
        plain = re.sub(r"\x1b\[[\d;]*m", "", self.written).replace("\r\n", "\n")
        plain = BELOW.sub("\r\x1b[K", plain)
        return "\n".join(line.rpartition("\r\x1b[K")[2] for line in plain.split("\n"))

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._master, keys)

    def read_until(self, text: str) -> None:
        """Read what the command draws until `text` is there."""
        while text not in self.written:
            assert self._read(), f"{text!r} never came:\n{self.written}"

    def wait(self) -> int:
        """Read to the end; returns the exit code."""
        while self._read():
            pass
        return self.hang_up()

    def hang_up(self) -> int:
        """Close the terminal; returns the exit code."""
        os.close(self._master)
        if self._program is not None:
            return self._program.wait()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        assert ready, f"the command hangs:\n{self.written}"
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other side has gone
            return False
        self.written += self._decode(piece)
        return bool(piece)
