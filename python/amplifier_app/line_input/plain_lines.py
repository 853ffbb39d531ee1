"""Lines from a terminal that can only print: the terminal itself edits them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TextIO

from amplifier_app.line_input.lines import Typing
from amplifier_app.line_input.typed_line import read_typed
from amplifier_app.printable import printable_line

_PROMPT = "> "
_PIECE = 65_536


class PlainLines:
    """Reads whole lines, with a prompt before those that begin a turn.

    A line that ends with a backslash goes on in the next one. What is typed when something else
    reads from the terminal is set aside, and shown again afterwards: the line goes on behind it.

    Args:
        stdin: The terminal to read from.
        stdout: Where a turn draws.
        stderr: Where notices and errors go.
    """

    def __init__(self, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.is_lent = False
        self._descriptor = stdin.fileno()
        self._encoding = stdin.encoding or "utf-8"
        self._typed = b""
        self._rows: list[str] = []
        self._is_prompting = False
        self._ended: asyncio.Future[bool] | None = None
        self._question = asyncio.Lock()
        self._take: Callable[[str], None] = lambda _: None

    async def run(self, typing: Typing) -> bool:
        """Read until `end`, Ctrl+D or the end of the terminal; see `Lines`."""
        self._take = typing.take
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        loop.add_reader(self._descriptor, self._read)
        self.show_prompt()
        try:
            return await self._ended
        finally:
            loop.remove_reader(self._descriptor)

    def end(self) -> None:
        """Read no more lines."""
        self._end(is_open=True)

    def clear(self) -> bool:
        """Drop the rows of an unfinished line; the terminal drops the last one itself."""
        had_text = bool(self._rows or self._typed)
        self._rows.clear()
        self._typed = b""
        self._show("\n")
        return had_text

    def put_back(self, text: str) -> None:
        """Do nothing: what the terminal edits cannot be changed, and nothing waits."""

    def fold(self, text: str) -> str:
        """Return the line: nothing is folded."""
        return text

    def show_typed(self, text: str) -> None:
        """Do nothing: the terminal has shown it."""

    def show_rows(self, rows: Sequence[str]) -> None:
        """Do nothing: what is printed cannot be erased."""

    def show_queued(self, rows: Sequence[str]) -> None:
        """Do nothing: nothing waits."""

    def show_prompt(self) -> None:
        """Show the prompt, while lines are read."""
        if self._ended is not None and self._ended.done():
            return
        self._show(_PROMPT)
        self._is_prompting = True

    @contextlib.asynccontextmanager
    async def suspend(self) -> AsyncGenerator[Callable[[str], None]]:
        """Leave the terminal to something else that reads from it; see `Lines`."""
        loop = asyncio.get_running_loop()
        async with self._question:
            loop.remove_reader(self._descriptor)
            self._take_piece(read_typed(self._descriptor))
            try:
                yield self._take_typed
            finally:
                if self._ended is not None and not self._ended.done():
                    loop.add_reader(self._descriptor, self._read)
                    if self._typed:
                        self._show(printable_line(self._typed.decode(self._encoding, "replace")))

    def _take_typed(self, text: str) -> None:
        """Take what was typed for something else."""
        if self._typed:
            before = self._typed.decode(self._encoding, "replace")
            self._rows.append(before)
            self._show(f"{printable_line(before)}\n")
        self._typed = text.encode(self._encoding, "replace")

    def _read(self) -> None:
        try:
            piece = os.read(self._descriptor, _PIECE)
        except OSError:
            self._end(is_open=False)
            return
        if not piece:
            if self._is_prompting:
                self._show("\n")
            self._end(is_open=os.isatty(self._descriptor))
            return
        self._take_piece(piece)

    def _take_piece(self, piece: bytes) -> None:
        *rows, self._typed = (self._typed + piece).split(b"\n")
        for row in rows:
            text = row.decode(self._encoding, "replace")
            if text.endswith("\\"):
                self._rows.append(text[:-1])
                continue
            line = "\n".join([*self._rows, text])
            self._rows.clear()
            self._is_prompting = False
            self._take(line)

    def _end(self, *, is_open: bool) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(is_open)

    def _show(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self.stdout.write(text)
            self.stdout.flush()
