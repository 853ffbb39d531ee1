"""`!command` in a conversation: the user's own command, whose output the model reads with the next prompt."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import write_notice, write_piece

MARK = "!"
"""What a line begins with that is such a command."""
_PIECE_BYTES = 65_536
_HALF_CHARS = 10_000
"""So much of the beginning and of the end of an output is for the model."""


class OwnCommands:
    """Runs commands of the user as the user, one at a time: no sandbox, no question, no undo."""

    def __init__(self, folder: Path) -> None:
        """Run them in this folder."""
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._is_interrupted = False
        self._said: list[str] = []

    @property
    def is_running(self) -> bool:
        """Whether one runs."""
        return self._process is not None

    async def run(self, line: str) -> None:
        """Run a command in the user's shell, show what it writes, and keep that for the model.

        Args:
            line: What follows the mark.

        Raises:
            Failure: There is no command, or the shell cannot be started.
        """
        if not line.strip():
            raise Failure("there is no command after `!`", hint="such as `!git status`")
        shell = os.environ.get("SHELL") or "/bin/sh"
        # A pipe of our own: asyncio would take a command for running while its output is open.
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb", buffering=0) as output:
            try:
                process = await asyncio.create_subprocess_exec(
                    *(shell, "-c", line),
                    cwd=self._folder,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=writing,
                    stderr=writing,
                    start_new_session=True,
                )
            except OSError as error:
                raise Failure(f"the shell `{shell}` cannot be started: {error.strerror}") from None
            finally:
                os.close(writing)
            await self._follow(process, line, output)

    async def _follow(
        self, process: asyncio.subprocess.Process, line: str, output: IO[bytes]
    ) -> None:
        """Show what a command writes until it ends, and keep that for the model."""
        self._process, self._is_interrupted = process, False
        showing = asyncio.create_task(self._show(output))
        try:
            code = await process.wait()
        finally:
            self.kill()  # what it has started holds its output open
            self._process = None
            text = await showing
        if code:
            write_notice(f"exit code {code}" if code > 0 else f"ended by signal {-code}")
        self._said.append(_write_block(line, code, text))

    def interrupt(self) -> None:
        """End the command that runs as Ctrl+C in a shell does; the second time, whatever it does."""
        # What this process ignores, the command has begun with ignoring.
        is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        usual = signal.SIGTERM if is_ignored else signal.SIGINT
        self._send_signal(signal.SIGKILL if self._is_interrupted else usual)
        self._is_interrupted = True

    def kill(self) -> None:
        """End the command that runs, and what it has started."""
        self._send_signal(signal.SIGKILL)

    def add_to(self, prompt: str) -> str:
        """Return a prompt with what was run since the last one."""
        said, self._said = self._said, []
        return "\n\n".join([prompt, *said])

    async def _show(self, output: IO[bytes]) -> str:
        """Show what a command writes, as it does, and return what of it is for the model."""
        from amplifier_guard import TerminalText

        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, output)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        screen, text, left_out, is_line_open = TerminalText(), "", 0, False
        while piece := await reader.read(_PIECE_BYTES):
            read = decoder.decode(piece)
            shown = screen.feed(read)
            write_piece(shown)
            is_line_open = not shown.endswith("\n") if shown else is_line_open
            text += read
            if len(text) > 2 * _HALF_CHARS:
                left_out += len(text) - 2 * _HALF_CHARS
                text = text[:_HALF_CHARS] + text[-_HALF_CHARS:]
        write_piece(screen.flush())
        if is_line_open:
            write_notice("")
        if left_out:
            note = f"\n[{left_out:,} characters are left out]\n"
            text = text[:_HALF_CHARS] + note + text[_HALF_CHARS:]
        return text

    def _send_signal(self, number: int) -> None:
        if self._process is not None:
            # All that it has started is in its group, also when it has ended itself.
            with suppress(OSError):
                os.killpg(self._process.pid, number)


def is_there() -> bool:
    """Whether there are such commands here: where they can be ended with all that they start."""
    return sys.platform != "win32"


def _write_block(line: str, code: int, text: str) -> str:
    from amplifier_modules.instructions.written_text import escape_marks

    said = escape_marks(SECRETS.redact(f"$ {line}\n{text}".rstrip()))
    return f'<user-command exit-code="{code}">\n{said}\n</user-command>'
