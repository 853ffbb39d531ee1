"""The prompt in a terminal in memory, of a kind that breaks rows anew or one that does not."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pyte
import pyte.modes
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from typing_extensions import override

from amplifier_app.line_input.candidate import Candidate
from amplifier_app.line_input.completion import LineCompleter
from amplifier_app.line_input.line_editor import LineEditor
from amplifier_app.line_input.lines import Typing

ROWS = 200
"""So high that nothing scrolls out."""

_COMMANDS = ("/skills", "/status")


def find_names(begun: str) -> list[str]:
    return [each for each in _COMMANDS if each.startswith(begun)]


class MemoryTerminal(io.StringIO):
    """Shows what is written on a screen."""

    encoding = "utf-8"  # pyright: ignore[reportAssignmentType, reportIncompatibleUnannotatedOverride]

    def __init__(self, columns: int, *, is_reflowing: bool) -> None:
        super().__init__()
        self.size = Size(rows=ROWS, columns=columns)
        self.is_reflowing = is_reflowing
        self.screen = WrapScreen(columns, ROWS)
        self._stream = pyte.Stream(self.screen)
        self.writes = 0

    @override
    def isatty(self) -> bool:
        return True

    @override
    def write(self, text: str, /) -> int:
        # What a terminal of its own makes of a line break.
        self._stream.feed(text.replace("\r\n", "\n").replace("\n", "\r\n"))
        self.writes += 1
        return len(text)

    def resize(self, columns: int) -> None:
        """Get another width."""
        self.size = Size(rows=ROWS, columns=columns)
        if self.is_reflowing:
            self.screen.break_anew(columns)
        else:
            self.screen.resize(ROWS, columns)

    @property
    def rows(self) -> list[str]:
        """What is shown, to the last row that is not empty."""
        rows = [row.rstrip() for row in self.screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows


class WrapScreen(pyte.Screen):
    """Remembers which rows go on in the next one, and can break them anew."""

    def __init__(self, columns: int, lines: int) -> None:
        self.wrapped: set[int] = set()
        super().__init__(columns, lines)

    @override
    def draw(self, data: str) -> None:
        for character in data:
            row = self.cursor.y
            if self.cursor.x == self.columns and pyte.modes.DECAWM in self.mode:
                self.wrapped.add(row)
            super().draw(character)

    @override
    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        super().erase_in_display(how, *args, **kwargs)
        self.wrapped = {row for row in self.wrapped if row < self.cursor.y}

    def break_anew(self, columns: int) -> None:
        """Get another width as a terminal does that joins and breaks rows."""
        joined: list[list[Any]] = []
        place, is_open = (0, 0), False
        for y in range(self.lines):
            row = self.buffer[y]
            used = [x for x, cell in row.items() if cell.data.strip() or cell.bg != "default"]
            cells = [row[x] for x in range(max(used, default=-1) + 1)]
            if y in self.wrapped:
                cells = [row[x] for x in range(self.columns)]
            if not is_open:
                joined.append([])
            if y == self.cursor.y:
                place = (len(joined) - 1, len(joined[-1]) + self.cursor.x)
            joined[-1] += cells
            is_open = y in self.wrapped
        while joined and not joined[-1] and len(joined) - 1 > place[0]:
            joined.pop()
        self.resize(self.lines, columns)
        self.reset_rows()
        y = 0
        for number, cells in enumerate(joined):
            begin = y
            for start in range(0, max(len(cells), 1), columns):
                for x, cell in enumerate(cells[start : start + columns]):
                    self.buffer[y][x] = cell
                if start + columns < len(cells):
                    self.wrapped.add(y)
                y += 1
            if number == place[0]:
                last = y - 1
                row = min(begin + place[1] // columns, last)
                self.cursor.y = row
                self.cursor.x = min(place[1] - (row - begin) * columns, columns - 1)

    def reset_rows(self) -> None:
        """Have nothing on it."""
        self.buffer.clear()
        self.wrapped.clear()


class DrawnPrompt:
    """A prompt, what is typed at it, and what is on the screen."""

    def __init__(self, editor: LineEditor, terminal: MemoryTerminal, pipe: Any) -> None:
        self.editor = editor
        self.terminal = terminal
        self.taken: list[str] = []
        self.called: list[str] = []
        self._pipe = pipe

    async def type(self, keys: str) -> None:
        """Press keys, and wait until they are drawn."""
        self._pipe.send_text(keys)
        await self.settle()

    async def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        for _ in range(2000):
            if is_so():
                return
            await asyncio.sleep(0.005)
        raise AssertionError(self.terminal.rows)

    async def settle(self) -> None:
        """Wait until what is written, too, is drawn."""
        await asyncio.sleep(0.002)
        self.editor.draw_now()

    def resize(self, columns: int) -> None:
        """Change the width of the terminal, as it says by a signal."""
        self.terminal.resize(columns)
        self.editor.draw_now()


@contextlib.asynccontextmanager
async def drawn_prompt(
    folder: Path, columns: int = 40, *, is_reflowing: bool = True, **typing: Any
) -> AsyncGenerator[DrawnPrompt]:
    """Run a prompt."""
    terminal = MemoryTerminal(columns, is_reflowing=is_reflowing)
    with create_pipe_input() as pipe, create_app_session(input=pipe):

        async def complete(_: str) -> AsyncIterator[Candidate]:
            for each in _COMMANDS:
                yield Candidate(each, "")

        editor = LineEditor(
            terminal,
            InMemoryHistory(),
            LineCompleter(complete, folder, find_names),
            get_size=lambda: terminal.size,
            is_reflowing=is_reflowing,
        )
        prompt = DrawnPrompt(editor, terminal, pipe)
        typing.setdefault("take", prompt.taken.append)
        running = asyncio.create_task(editor.run(Typing(**typing)))
        await prompt.settle()
        try:
            yield prompt
        finally:
            editor.end()
            await running
