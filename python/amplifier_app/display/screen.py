"""What the display writes to: a terminal, a pipe, or a console of `rich` that belongs to somebody else."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from typing import IO, TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text
from rich.theme import Theme
from typing_extensions import override

from amplifier_app.display.glyphs import ASCII, PLAIN, UNICODE
from amplifier_app.display.wrapping import Wrapper
from amplifier_app.plain_mode import is_plain
from amplifier_core import world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from amplifier_app.display.inline import Span

STYLES = {
    "thinking": "dim italic",
    "thinking.border": "dim",
    "text.strong": "bold",
    "text.emphasis": "italic",
    "text.code": "cyan",
    "text.heading": "bold underline",
    "text.quote": "italic",
    "text.mark": "dim",
    "table.head": "bold",
    "table.head.code": "bold cyan",
    "table.head.emphasis": "bold italic",
    "tool": "bold blue",
    "tool.arguments": "dim",
    "tool.good": "green",
    "tool.bad": "bold red",
    "diff.added": "green",
    "diff.removed": "red",
    "note": "dim",
    "warning": "yellow",
    "error": "bold red",
}
"""The styles of the display, in rich's syntax."""

_TO_START = "\r\x1b[K"
"""Erases the line that is not complete."""
_BELOW = "\r \x1b[J\r\x1b[K"
"""Erases that and all below.

Not from the first column on: tmux keeps a whole screen that is erased in its scrollback.
"""
_SECONDS_UNTOLD = 1
"""Plain mode says nothing of a wait that is over before."""
_SECONDS_TO_TELL_AGAIN = 30


class Screen:
    """Append-only output: what is written stays, so that the scrollback holds all of it.

    Only what is below the last line is ever erased, the waiting line and rows above that, and
    only on a terminal. While they are there, the cursor is at the beginning of the first of them: what
    is below it can be erased however many rows a terminal that was resized has made of them.

    Colours follow `rich`: none with `NO_COLOR`, none in a pipe (also with `FORCE_COLOR`). In plain
    mode there are no colours and nothing is erased: what is waited for is a line of its own.

    Args:
        file: What it writes to.
        width: The cells of a line, if not those of the terminal.
        console: A console to draw through.
        put_rows: Takes rows where somebody else draws what is below the last line.
    """

    def __init__(
        self,
        file: IO[str],
        *,
        width: int | None = None,
        console: Console | None = None,
        put_rows: Callable[[Sequence[str]], object] | None = None,
    ) -> None:
        self.is_terminal = file.isatty() if console is None else console.is_terminal
        self._file = file
        self.is_plain = is_plain(os.environ)
        self._console = console or Console(
            file=file,
            theme=Theme(STYLES),
            force_terminal=self.is_terminal,
            color_system=None if self.is_plain else "auto",
            width=width,
            markup=False,
            highlight=False,
            emoji=False,
        )
        encoding = (getattr(file, "encoding", None) or "utf-8").lower()
        self.glyphs = UNICODE if encoding.startswith("utf") else ASCII
        if self.is_plain and self.is_terminal:
            self.glyphs = PLAIN
        columns = os.environ.get("COLUMNS", "")
        self._fixed_columns = width or (int(columns) if columns.isdigit() else None)
        self._has_console = console is not None
        self._descriptors = _find_descriptors(file)
        self._pens = _Pens(self._console)
        self._can_erase = self.is_terminal and not self.is_plain
        self._waiting = ""
        self._waiting_text = ""
        self._waiting_since = 0.0
        self._waiting_limit: float | None = None
        self._is_drawn = False
        """Whether something is drawn below the last line."""
        self._next_telling = 0.0
        """In plain mode: after how many seconds the wait is told of, again or for the first time."""
        self._rows: tuple[str, ...] = ()
        self._put_rows = put_rows
        self._ticks = 0
        self._at_line_start = True
        self._blank = True
        self._held: list[str] | None = None
        self.failure: OSError | None = None
        self.on_failure: Callable[[], object] | None = None

    @property
    def width(self) -> int:
        """Cells of a line, as of now."""
        # The last column stays free: some terminals wrap as soon as it is filled.
        return max(20, min(self._measure_columns(), 120) - 1)

    def find_text_width(self) -> int:
        """Cells after which text is wrapped, as of now; it is not wrapped in a pipe."""
        return self.width if self.is_terminal else 1 << 30

    def _measure_columns(self) -> int:
        if self._has_console:
            return self._console.width
        if self._fixed_columns:
            return self._fixed_columns
        if self.is_terminal:
            for descriptor in self._descriptors:
                # Once for each delta: `contextlib.suppress` takes as long as the question itself.
                try:
                    if columns := os.get_terminal_size(descriptor).columns:
                        return columns
                except (OSError, ValueError):
                    pass
        return self._console.width

    def write(self, text: str, style: str = "") -> None:
        """Append text, which must be printable already."""
        if "\n" in text and style:
            # A style never spans lines, so that text printed in between stays unstyled.
            lines = [[(line, style), ("\n", "")] for line in text.split("\n")]
            self.write_spans([span for span in itertools.chain(*lines) if span[0]][:-1])
        elif text:
            self.write_spans([(text, style)])

    def write_spans(self, spans: Sequence[Span]) -> None:
        """Append texts in one piece; none may be empty, and a styled one has no newline."""
        self._erase()
        self._put(spans)
        self._remember_end(spans[-1][0] if len(spans) == 1 else spans[-2][0] + spans[-1][0])

    def _put(self, spans: Sequence[Span]) -> None:
        pens = self._pens
        self._send("".join([pens[style] % text if style else text for text, style in spans]))

    def _remember_end(self, text: str) -> None:
        """Remember how what is written ends."""
        self._blank = text.endswith("\n\n") or (text == "\n" and self._at_line_start)
        self._at_line_start = text.endswith("\n")

    def write_line(self, *pieces: tuple[str, str]) -> None:
        """Append one whole line of (text, style) pieces."""
        self.end_line()
        for text, style in pieces:
            self.write(text, style)
        self.write("\n")

    def end_line(self) -> None:
        """End the current line if there is one."""
        if not self._at_line_start:
            self.write("\n")

    def clear_line(self) -> None:
        """Erase the text below the last line: the waiting line, or an echoed `^C`."""
        if self._can_erase and self._at_line_start:
            self._is_drawn = True
            self._erase()

    def leave_gap(self) -> None:
        """Leave one blank line before what comes next."""
        self.end_line()
        if not self._blank:
            self.write("\n")
            self._blank = True

    def hold(self) -> None:
        """Keep what is written until `release`: something else is on the screen."""
        self._held = self._held or []

    def release(self) -> None:
        """Write what was kept."""
        if self._held is not None:
            text, self._held = "".join(self._held), None
            self._blank = self._blank and bool(text)
            self._send(text)
            self.flush()

    def flush(self) -> None:
        """Hand everything written to the operating system."""
        try:
            if self.failure is None:
                self._file.flush()
        except OSError as error:
            self._remember_failure(error)

    def wait_for(
        self,
        what: str,
        limit: float | None = None,
        *,
        shown: str | None = None,
        is_told: bool = False,
    ) -> None:
        """Show in the waiting line what the program waits for; remove the line if empty.

        Args:
            what: What it waits for.
            limit: Seconds that it waits, at most; None if that is not known.
            shown: What is drawn; it may change while the seconds of the same wait are counted.
            is_told: Whether plain mode tells of it at once; of other waits after a second.
        """
        self._waiting_limit = limit
        self._waiting_text = what if shown is None else shown
        if what != self._waiting:
            self._waiting = what
            self._waiting_since = world.monotonic()
            self._next_telling = _SECONDS_UNTOLD
            if not what:
                self._erase()
        if is_told and self._next_telling == _SECONDS_UNTOLD:
            self._next_telling = 0.0
            self._tell_wait()

    def show_rows(self, rows: Iterable[str]) -> None:
        """Have rows above the waiting line until they are others; they must be printable already."""
        self._erase()
        self._rows = tuple(rows)
        if self._put_rows is not None:
            self._put_rows([self._style_row(row) for row in self._rows])

    def tick(self) -> None:
        """Redraw the waiting line if it is visible."""
        if not (self._waiting and self._at_line_start) or self._held is not None:
            return
        if not self._can_erase:
            self._tell_wait()
            return
        self._ticks += 1
        sign = self.glyphs.spinner[self._ticks % len(self.glyphs.spinner)]
        seconds = int(world.monotonic() - self._waiting_since)
        text = f"{sign} {self._waiting_text}" + (
            f" ({self._count(seconds)})" if seconds >= 2 else ""
        )
        self._is_drawn = True
        if self._put_rows is not None:  # it is the line that is not complete yet
            self._send(f"{_TO_START}{self._style_row(text)}")
        else:
            # Drawn over what is there, not wrapped, and in one piece: it never flickers.
            rows = [self._style_row(row) for row in (*self._rows, text)]
            up = f"\x1b[{len(rows) - 1}A" if len(rows) > 1 else ""
            drawn = "\x1b[K\n".join(rows)
            self._send(f"\r\x1b[?7l{drawn}\x1b[J\x1b[?7h{up}\r")
        self.flush()

    def _count(self, seconds: int) -> str:
        limit = "" if self._waiting_limit is None else f" of {self._waiting_limit:,.0f} s"
        return f"{seconds} s{limit}"

    def _tell_wait(self) -> None:
        """In plain mode: write a line about a wait, rarely."""
        seconds = int(world.monotonic() - self._waiting_since)
        if not self.is_plain or seconds < self._next_telling or not self._at_line_start:
            return
        is_new = self._next_telling < _SECONDS_TO_TELL_AGAIN
        self._next_telling = max(_SECONDS_TO_TELL_AGAIN, 2 * seconds)
        again = f"still {self._waiting_text} ({self._count(seconds)})"
        wrapper = Wrapper(self.write_spans, self.find_text_width)
        wrapper.feed(self._waiting_text if is_new else again, "note")
        wrapper.finish()
        self.flush()

    async def animate(self) -> None:
        """Draw the waiting line ten times a second, until cancelled."""
        import asyncio

        while True:
            await asyncio.sleep(0.1)
            self.tick()

    def _erase(self) -> None:
        if self._is_drawn:
            self._is_drawn = False
            self._send(_TO_START if self._put_rows is not None else _BELOW)

    def _style_row(self, text: str) -> str:
        """A line below the last one, which is never wrapped: it could not be erased."""
        cells = cell_len(text)
        return self._pens["note"] % (
            text if cells <= self.width else set_cell_size(text, self.width)
        )

    def _send(self, text: str) -> None:
        if self._held is not None:
            self._held.append(text)
            return
        try:
            if self.failure is None:
                self._file.write(text)
        except OSError as error:
            self._remember_failure(error)

    def _remember_failure(self, error: OSError) -> None:
        """Remember a failure to write: an exception in a handler would only be logged."""
        self.failure = error
        if self.on_failure is not None:
            self.on_failure()


class _Pens(dict[str, str]):
    """Formats that put the escape codes of a style around a text, as the console would."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def __missing__(self, style: str) -> str:
        with self._console.capture() as capture:
            self._console.print("%s", style=style, end="")
        pen = self[style] = capture.get()
        return pen


def _find_descriptors(file: IO[str]) -> list[int]:
    """The descriptors that may know how wide the terminal is."""
    found: list[int] = []
    for stream in (file, sys.__stdout__, sys.__stderr__, sys.__stdin__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            found.append(stream.fileno())  # pyright: ignore[reportOptionalMemberAccess]
    return found


class ConsoleScreen(Screen):
    """Draws through the console, so that what records or captures it gets everything."""

    def __init__(self, console: Console) -> None:
        super().__init__(console.file, console=console)
        self._theme = Theme(STYLES)

    @override
    def _put(self, spans: Sequence[Span]) -> None:
        with self._console.use_theme(self._theme):
            self._console.print(Text.assemble(*spans), end="", soft_wrap=True)
