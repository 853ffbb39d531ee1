"""What the display writes to: a terminal, a pipe, or a console of `rich` that belongs to somebody else."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text
from rich.theme import Theme
from typing_extensions import override

from amplifier_core import world

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from rich.console import RenderableType

STYLES = {
    "thinking": "dim italic",
    "thinking.border": "dim",
    "text.strong": "bold",
    "text.emphasis": "italic",
    "text.code": "cyan",
    "text.heading": "bold underline",
    "text.quote": "italic",
    "text.mark": "dim",
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


@dataclass(frozen=True)
class Glyphs:
    """The characters that the display draws with."""

    top_left: str
    top_right: str
    bottom_left: str
    bottom_right: str
    across: str
    down: str
    call: str
    good: str
    bad: str
    bullet: str
    quote: str
    dot: str
    spinner: str

    @property
    def is_unicode(self) -> bool:
        """Whether other characters than those of ASCII can be drawn."""
        return not self.across.isascii()


_UNICODE = Glyphs("╭", "╮", "╰", "╯", "─", "│", "●", "✓", "✗", "•", "▎", "·", "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
_ASCII = Glyphs("+", "+", "+", "+", "-", "|", "*", "ok", "failed", "-", ">", "-", "|/-\\")


class Screen:
    """Append-only output: what is written stays, so that the scrollback holds all of it.

    Only what is below the last line is ever erased, the waiting line and rows above that, and
    only on a terminal. Colours follow `rich`: none with `NO_COLOR`, none on a dumb terminal, none
    in a pipe (also with `FORCE_COLOR`).

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
        self._console = console or Console(
            file=file,
            theme=Theme(STYLES),
            force_terminal=self.is_terminal,
            width=width,
            markup=False,
            highlight=False,
            emoji=False,
        )
        encoding = (getattr(file, "encoding", None) or "utf-8").lower()
        self.glyphs = _UNICODE if encoding.startswith("utf") else _ASCII
        self._pens: dict[str, tuple[str, str]] = {"": ("", "")}
        self._can_erase = self.is_terminal and not self._console.is_dumb_terminal
        self._waiting = ""
        self._waiting_text = ""
        self._waiting_since = 0.0
        self._waiting_limit: float | None = None
        self._drawn_lines = 0
        """How many lines are drawn below the last one."""
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

    def _measure_columns(self) -> int:
        if self._console.is_dumb_terminal and self.is_terminal:
            # `rich` does not ask a dumb terminal for its width.
            with contextlib.suppress(OSError, ValueError):
                return os.get_terminal_size(self._file.fileno()).columns or self._console.width
        return self._console.width

    def write(self, text: str, style: str = "") -> None:
        """Append text, which must be printable already."""
        if not text:
            return
        self._erase()
        self._put(text, style)
        self._remember_end(text)

    def _put(self, text: str, style: str) -> None:
        before, after = self._find_pen(style)
        if before:
            # A style never spans lines, so that text printed in between stays unstyled.
            text = "\n".join(f"{before}{line}{after}" if line else "" for line in text.split("\n"))
        self._send(text)

    def _remember_end(self, text: str) -> None:
        """Remember how what is written ends."""
        self._blank = text.endswith("\n\n") or (text == "\n" and self._at_line_start)
        self._at_line_start = text.endswith("\n")

    def render(self, renderable: RenderableType) -> None:
        """Append something complete, such as a table."""
        with self._console.capture() as capture:
            self._console.print(renderable, width=self.width)
        self.write(capture.get())

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
            self._send(self._take_erasure())

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
            self._send(text)
            self.flush()

    def flush(self) -> None:
        """Hand everything written to the operating system."""
        with self._watch_failures():
            if self.failure is None:
                self._file.flush()

    def wait_for(self, what: str, limit: float | None = None, *, shown: str | None = None) -> None:
        """Show in the waiting line what the program waits for; remove the line if empty.

        Args:
            what: What it waits for.
            limit: Seconds that it waits, at most; None if that is not known.
            shown: What is drawn; it may change while the seconds of the same wait are counted.
        """
        self._waiting_limit = limit
        self._waiting_text = what if shown is None else shown
        if what != self._waiting:
            self._waiting = what
            self._waiting_since = world.monotonic()
            if not what:
                self._erase()

    def show_rows(self, rows: Iterable[str]) -> None:
        """Have rows above the waiting line until they are others; they must be printable already."""
        self._erase()
        self._rows = tuple(rows)
        if self._put_rows is not None:
            self._put_rows([self._style_row(row) for row in self._rows])

    def tick(self) -> None:
        """Redraw the waiting line if it is visible."""
        if not (self._can_erase and self._waiting and self._at_line_start) or (
            self._held is not None
        ):
            return
        self._ticks += 1
        sign = self.glyphs.spinner[self._ticks % len(self.glyphs.spinner)]
        seconds = int(world.monotonic() - self._waiting_since)
        limit = "" if self._waiting_limit is None else f" of {self._waiting_limit:,.0f} s"
        text = f"{sign} {self._waiting_text}" + (f" ({seconds} s{limit})" if seconds >= 2 else "")
        rows = () if self._put_rows is not None else self._rows
        erasure = self._take_erasure()
        self._drawn_lines = len(rows) + 1
        self._send(erasure + "\n".join(self._style_row(row) for row in (*rows, text)))
        self.flush()

    async def animate(self) -> None:
        """Draw the waiting line ten times a second, until cancelled."""
        import asyncio

        while True:
            await asyncio.sleep(0.1)
            self.tick()

    def _erase(self) -> None:
        if self._drawn_lines:
            self._send(self._take_erasure())

    def _take_erasure(self) -> str:
        """Return what erases the lines that are drawn, which counts as done."""
        count, self._drawn_lines = self._drawn_lines, 0
        return f"\x1b[{count - 1}A\r\x1b[J" if count > 1 else "\r\x1b[K"

    def _style_row(self, text: str) -> str:
        """A line below the last one, which is never wrapped: it could not be erased."""
        before, after = self._find_pen("note")
        cells = cell_len(text)
        shown = text if cells <= self.width else set_cell_size(text, self.width)
        return f"{before}{shown}{after}"

    def _find_pen(self, style: str) -> tuple[str, str]:
        """The escape codes around a styled text: none where the console would write none."""
        pen = self._pens.get(style)
        if pen is None:
            with self._console.capture() as capture:
                self._console.print("x", style=style, end="")
            before, _, after = capture.get().partition("x")
            pen = self._pens[style] = (before, after)
        return pen

    def _send(self, text: str) -> None:
        if self._held is not None:
            self._held.append(text)
            return
        with self._watch_failures():
            if self.failure is None:
                self._file.write(text)

    @contextlib.contextmanager
    def _watch_failures(self) -> Generator[None]:
        """Remember a failure to write: an exception in a handler would only be logged."""
        try:
            yield
        except OSError as error:
            self.failure = error
            if self.on_failure is not None:
                self.on_failure()


class ConsoleScreen(Screen):
    """Draws through the console, so that what records or captures it gets everything."""

    def __init__(self, console: Console) -> None:
        super().__init__(console.file, console=console)
        self._theme = Theme(STYLES)

    @override
    def render(self, renderable: RenderableType) -> None:
        with self._console.use_theme(self._theme):
            self._console.print(renderable, width=self.width)
        self._remember_end("x\n")  # the last line of it has text

    @override
    def _put(self, text: str, style: str) -> None:
        with self._console.use_theme(self._theme):
            self._console.print(Text(text, style), end="", soft_wrap=True)
