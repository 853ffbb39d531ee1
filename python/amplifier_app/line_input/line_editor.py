"""The prompt in a terminal: editing, history, completion, and output above it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import IO, TYPE_CHECKING, TextIO, cast

from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.output.vt100 import Vt100_Output

from amplifier_app.failure import Failure, report
from amplifier_app.late_imports.lazy_toolkit import load_widths
from amplifier_app.line_input.editing_keys import EditingKeys
from amplifier_app.line_input.line_stream import LineStream
from amplifier_app.line_input.lines import Typing
from amplifier_app.line_input.pastes import PasteMarks, Pastes
from amplifier_app.line_input.prompt_renderer import PromptRenderer, find_reflow
from amplifier_app.line_input.prompt_view import INDENT, PROMPT, STYLE, make_layout
from amplifier_app.line_input.text_editor import edit_text
from amplifier_app.line_input.typed_ahead import keep_typed_ahead
from amplifier_app.line_input.whole_writes import WholeWrites

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from amplifier_app.attached.pasted_images import PastedImages
    from amplifier_app.line_input.completion import LineCompleter

_SECONDS_TO_SHOW = 0.1
"""The prompt is on the screen before that."""
_SECONDS_A_DRAWING = 0.03
_SECONDS_OF_ESCAPE = 0.05
"""What comes so soon after Esc is one key with it, such as Alt+Enter or an arrow."""
_MAX_STORED_CHARS = 20_000
"""A longer line is in the history with its marks only."""


class LineEditor:
    """Reads lines at a prompt that stays the last line of the screen, above a status line.

    Enter takes the line. Alt+Enter, or Enter after a backslash, begins a new one in it; pasted
    lines stay together. What is written to `stdout` and `stderr` appears above the prompt, the line
    that is not complete yet included.

    Args:
        terminal: Standard output.
        history: The lines of before, for the arrow keys.
        completer: What Tab offers.
        images: Keeps the images that are pasted; None where none can be.
        get_size: Returns the size of the terminal.
        is_reflowing: Whether that breaks rows anew when it gets another width; usually it is known
            by its name.
    """

    def __init__(
        self,
        terminal: TextIO,
        history: History,
        completer: LineCompleter,
        images: PastedImages | None = None,
        *,
        get_size: Callable[[], Size] | None = None,
        is_reflowing: bool | None = None,
    ) -> None:
        self._writes = WholeWrites(terminal, self._lose_terminal)
        # No terminal has to say where its cursor is: some never answer, and an answer that comes
        # late would be read as if it was typed.
        output = Vt100_Output(
            cast("TextIO", self._writes),
            get_size or self._measure_terminal,
            term=os.environ.get("TERM"),
            enable_bell=False,
            enable_cpr=False,
        )
        encoding = terminal.encoding or "utf-8"
        self._streams = [LineStream(self._put, self._draw_soon, encoding) for _ in range(2)]
        self.stdout, self.stderr = (cast("IO[str]", stream) for stream in self._streams)
        self._above: deque[str] = deque()
        self._rows: Sequence[str] = ()
        self._queued: Sequence[str] = ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_drawing = False
        self._question = asyncio.Lock()
        self._is_suspended = False
        self._is_gone = False
        self.is_lent = False
        self.typing = Typing(take=lambda _: None)
        """What is called for what is typed."""
        self.pastes = Pastes()
        self.buffer = Buffer(completer=completer, history=history)
        """What is typed."""
        self._app: Application[bool] = Application(
            layout=make_layout(
                self.buffer,
                PasteMarks(self.pastes),
                self._make_above,
                lambda: self.typing.find_mode(),
                lambda cells: self.typing.write_status(cells),
            ),
            style=STYLE,
            include_default_pygments_style=False,
            key_bindings=EditingKeys(self, completer, images).bind(),
            erase_when_done=True,
            output=output,
            max_render_postpone_time=None,
        )
        self._app.ttimeoutlen = _SECONDS_OF_ESCAPE
        self._app.key_processor.after_key_press += self._limit_waiting
        self._renderer = PromptRenderer(
            self._app.renderer.style,
            output,
            self._writes,
            self._take_above,
            is_reflowing=find_reflow(os.environ) if is_reflowing is None else is_reflowing,
        )
        self._app.renderer = self._renderer

    async def run(self, typing: Typing) -> bool:
        """Read until `end`, Ctrl+D or the end of the terminal; see `Lines`."""
        self.typing = typing
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(_SECONDS_TO_SHOW, load_widths)
        keep_typed_ahead(self._app.input)
        try:
            await self._app.run_async(handle_sigint=False, set_exception_handler=False)
        except (EOFError, OSError):
            self._is_gone = True
        finally:
            self._loop = None
            self._draw()
        return not self._is_gone

    def end(self) -> None:
        """Read no more lines."""
        if self._app.is_running and not self._app.is_done:
            self._app.exit(result=True)

    def clear(self) -> bool:
        """Drop what is typed; whether there was something."""
        had_text = bool(self.buffer.text)
        self.buffer.reset()
        self._app.invalidate()
        return had_text

    def take_line(self) -> str:
        """Return what is typed, whole, and begin with an empty line; it is in the history."""
        folded = self.buffer.text
        # A terminal can send bytes that are no text.
        whole = self.pastes.unfold(folded).encode("utf-8", "replace").decode()
        if whole.strip():
            is_long = len(whole) > _MAX_STORED_CHARS
            stored = self.pastes.write_marks(folded) if is_long else whole
            self.buffer.history.append_string(stored.encode("utf-8", "replace").decode())
        self.buffer.reset()
        return whole

    def put_back(self, text: str) -> None:
        """Put a line that was taken before what is typed."""
        typed = "\n".join(filter(None, [self.pastes.fold_again(text), self.buffer.text]))
        self.buffer.set_document(Document(typed))
        self._app.invalidate()

    def _take_typed(self, text: str) -> None:
        """Take what was typed for something else."""
        typed = "\n".join(filter(None, [self.buffer.text, text]))
        self.buffer.set_document(Document(typed))

    def fold(self, text: str) -> str:
        """Return a line that was taken with marks for the long texts that were pasted."""
        return self.pastes.write_marks(self.pastes.fold_again(text))

    def show_typed(self, text: str) -> None:
        """Leave a line that was taken on the screen."""
        rows = [f"{INDENT if n else PROMPT}{row}" for n, row in enumerate(text.split("\n"))]
        columns = self._app.output.get_size().columns
        if max(map(len, rows)) * 2 > columns:
            # Imported here: the first prompt is not to wait for it.
            from amplifier_app.display.wrapping import wrap_line

            rows = [wrap_line(row, columns - 1, hang=len(INDENT)) for row in rows]
        self._put("".join(f"{row}\n" for row in rows))

    def show_rows(self, rows: Sequence[str]) -> None:
        """Show rows above the prompt until they are others; with styles, and safe to show."""
        self._rows = rows
        self._draw_soon()

    def show_queued(self, rows: Sequence[str]) -> None:
        """Show the lines that wait between those and the prompt; safe to show."""
        self._queued = rows
        self._draw_soon()

    @property
    def has_queued(self) -> bool:
        """Whether lines wait."""
        return bool(self._queued)

    def show_prompt(self) -> None:
        """Do nothing: the prompt is always there."""

    @contextlib.asynccontextmanager
    async def suspend(self) -> AsyncGenerator[Callable[[str], None]]:
        """Leave the terminal to something else that reads from it; see `Lines`."""
        async with self._question:
            if self._app.is_running:
                self._renderer.write_above()
            self._is_suspended = True
            try:
                async with in_terminal():
                    yield self._take_typed
            finally:
                self._is_suspended = False
                self._draw_soon()

    def draw_now(self) -> None:
        """Draw what is new without waiting for more."""
        if self._app.is_running and not self._is_suspended:
            self._app.render_counter += 1  # what is shown is computed once for each
            self._renderer.render(self._app, self._app.layout)

    def start_editor(self) -> None:
        """Open what is typed in the editor of the user."""
        self._app.create_background_task(self._edit())

    async def _edit(self) -> None:
        folded = self.buffer.text
        whole = self.pastes.unfold(folded)
        try:
            async with self.suspend():
                self.is_lent = True
                try:
                    edited = await edit_text(whole, os.environ)
                finally:
                    self.is_lent = False
        except Failure as failure:
            report(failure)
            return
        self.buffer.set_document(Document(folded if edited == whole else edited))

    def _limit_waiting(self, _: object) -> None:
        """Wait for what may follow a key, but not for what may follow Esc: that has been done."""
        processor = self._app.key_processor
        is_escape = [press.data for press in processor.key_buffer] == ["\x1b"]
        self._app.timeoutlen = 0.0 if is_escape else 1.0

    def _make_above(self) -> StyleAndTextTuples:
        columns = self._app.output.get_size().columns
        live = next((stream.live for stream in self._streams if stream.live), "")
        rows = "\n".join(row for row in (live, *self._rows) if row)
        made = to_formatted_text(ANSI(rows))
        for row in self._queued:
            cut = row if len(row) < columns else f"{row[: columns - 2]}…"
            made = [*made, ("class:queued", f"\n{cut}" if made else cut)]
        return made

    def _put(self, text: str) -> None:
        self._above.append(text)
        self._draw_soon()

    def _take_above(self) -> str:
        pieces: list[str] = []
        while self._above:
            pieces.append(self._above.popleft())
        return "".join(pieces)

    def _draw_soon(self) -> None:
        """Draw what was written in the next moments at once, not each piece of it."""
        if self._loop is None:
            self._draw()
        elif not self._is_drawing:
            self._is_drawing = True
            # A thread may write, too.
            self._loop.call_soon_threadsafe(self._loop.call_later, _SECONDS_A_DRAWING, self._draw)

    def _draw(self) -> None:
        self._is_drawing = False
        if self._app.is_running:
            self._app.invalidate()
        elif not self._is_suspended:
            self._writes.write(self._take_above())
            self._writes.flush()

    def _lose_terminal(self) -> None:
        self._is_gone = True
        self.end()

    def _measure_terminal(self) -> Size:
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(self._writes.fileno())
            return Size(rows=rows or 24, columns=columns or 80)
        return Size(rows=24, columns=80)
