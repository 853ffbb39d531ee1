"""Lines from a terminal that can only print: the terminal itself edits them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TextIO

_PROMPT = "> "
_PIECE = 65_536


class PlainLines:
    """Reads whole lines, with a prompt before those that begin a turn.

    A line that ends with a backslash goes on in the next one.

    Args:
        stdin: The terminal to read from.
        stdout: Where a turn draws.
        stderr: Where notices and errors go.
    """

    def __init__(self, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self._descriptor = stdin.fileno()
        self._encoding = stdin.encoding or "utf-8"
        self._typed = b""
        self._rows: list[str] = []
        self._ended: asyncio.Future[bool] | None = None
        self._question = asyncio.Lock()
        self._take: Callable[[str], None] = lambda _: None

    async def run(
        self,
        take: Callable[[str], None],
        interrupt: Callable[[], None],
        change_mode: Callable[[], None],
        find_mode: Callable[[], str],
    ) -> bool:
        """Read until `end`, Ctrl+D or the end of the terminal; see `Lines`."""
        self._take = take
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
        had_text = bool(self._rows)
        self._rows.clear()
        self._show("\n")
        return had_text

    def put_back(self, text: str) -> None:
        """Do nothing: what the terminal edits cannot be changed, and nothing waits."""

    def show_typed(self, text: str) -> None:
        """Do nothing: the terminal has shown it."""

    def show_rows(self, rows: Sequence[str]) -> None:
        """Do nothing: what is printed cannot be erased."""

    def show_prompt(self) -> None:
        """Show the prompt."""
        self._show(_PROMPT)

    @contextlib.asynccontextmanager
    async def suspend(self) -> AsyncGenerator[None]:
        """Leave the terminal to something else that reads from it."""
        loop = asyncio.get_running_loop()
        async with self._question:
            loop.remove_reader(self._descriptor)
            try:
                yield
            finally:
                if self._ended is not None and not self._ended.done():
                    loop.add_reader(self._descriptor, self._read)

    def _read(self) -> None:
        try:
            piece = os.read(self._descriptor, _PIECE)
        except OSError:
            self._end(is_open=False)
            return
        if not piece:
            self._end(is_open=os.isatty(self._descriptor))
            return
        *rows, self._typed = (self._typed + piece).split(b"\n")
        for row in rows:
            text = row.decode(self._encoding, "replace")
            if text.endswith("\\"):
                self._rows.append(text[:-1])
                continue
            line = "\n".join([*self._rows, text])
            self._rows.clear()
            self._take(line)

    def _end(self, *, is_open: bool) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(is_open)

    def _show(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self.stdout.write(text)
            self.stdout.flush()
