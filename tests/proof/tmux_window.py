"""The command in a window of tmux, and what is on its screen and above it."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
from pathlib import Path
from typing import Any

from terminal import PATIENCE

ROWS = 24
_SIGNALLED = 128
"""A shell adds the number of the signal to this."""


class TmuxWindow:
    """The command in a window of tmux, which breaks rows anew when it gets another width."""

    def __init__(self, folder: Path, command: Any, *arguments: str, columns: int) -> None:
        """Start it.

        Args:
            folder: Where tmux has its socket, and what is written.
            command: What runs, in which folder and environment.
            *arguments: Those of the command.
            columns: The width of the window.
        """
        self.written = ""
        self._tmux = ("tmux", "-S", str(folder / "tmux"), "-f", os.devnull)
        begun, self._output = folder / "begun", folder / "output"
        self._process, self._ending = folder / "process", folder / "ending"
        for each in (begun, self._output, self._process, self._ending):
            each.unlink(missing_ok=True)
        for each in (begun, self._output):
            os.mkfifo(each)
        environment = dict(command.environment)
        if environment["TERM"] != "dumb":
            environment |= {"TERM": "tmux-256color", "TMUX": "here"}
        variables = [f"{name}={value}" for name, value in environment.items()]
        line = shlex.join(["env", "-i", *variables, *command.line, *arguments])
        inner = f"echo $$ > {shlex.quote(str(self._process))}; exec {line}"
        # tmux does not always say how a command has ended. What the keys send is for that alone.
        shell = (
            f"read _ < {shlex.quote(str(begun))}; trap : INT QUIT HUP TERM;"
            f" sh -c {shlex.quote(inner)}; echo $? > {shlex.quote(str(self._ending))}"
        )
        # One that stays when its command has ended, and says nothing of that.
        settings = (
            "set -g remain-on-exit on ; set -g remain-on-exit-format '' ; set -g history-limit 9000"
        )
        size = ("-x", str(columns), "-y", str(ROWS))
        start = ("new-session", "-d", *size, "-c", str(command.folder), shell)
        self._run("start-server", ";", *shlex.split(settings), ";", *start)
        self._run("pipe-pane", "-O", f"cat > {shlex.quote(str(self._output))}")
        self._reader = os.open(self._output, os.O_RDONLY)
        with begun.open("w") as gate:
            gate.write("\n")

    @property
    def pid(self) -> int:
        """The process of the command."""
        return int(self._process.read_text())

    @property
    def rows(self) -> list[str]:
        """All rows, those above the screen too, without the space at their ends."""
        rows = [row.rstrip() for row in self._run("capture-pane", "-p", "-S", "-").split("\n")]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def type(self, keys: bytes) -> None:
        """Press keys."""
        self._run("send-keys", "-H", *(f"{byte:x}" for byte in keys))

    def resize(self, columns: int) -> None:
        """Give it another width."""
        self._run("resize-window", "-x", str(columns), "-y", str(ROWS))

    def see_next(self) -> bool:
        """Wait until something is written; whether it can still be."""
        for _ in range(PATIENCE * 10):
            if select.select([self._reader], [], [], 0.1)[0]:
                piece = os.read(self._reader, 65536)
                self.written += piece.decode(errors="replace")
                if piece:
                    return True
            if self._ask("#{pane_dead}") == "1":
                return False
        raise AssertionError("the command hangs:\n" + "\n".join(self.rows))

    def wait(self) -> int:
        """Wait for its end; returns the exit code, and less than 0 for a signal."""
        while self.see_next():
            pass
        code = int(self._ending.read_text())
        return code if code <= _SIGNALLED else _SIGNALLED - code

    def close(self) -> None:
        """End tmux, and what still runs in it."""
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)
        os.close(self._reader)

    def _ask(self, what: str) -> str:
        return self._run("display-message", "-p", what).rstrip("\n")

    def _run(self, *words: str) -> str:
        line = [*self._tmux, *words]
        return subprocess.run(line, capture_output=True, check=True, text=True).stdout
