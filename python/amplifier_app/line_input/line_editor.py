"""The prompt in a terminal: editing, history, completion, and output above it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import IO, TYPE_CHECKING, TextIO, cast

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.vt100 import Vt100_Output

from amplifier_app.line_input.attachments import bind_attaching
from amplifier_app.line_input.line_stream import LineStream

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from amplifier_app.attached.pasted_images import PastedImages
    from amplifier_app.line_input.completion import LineCompleter

_PROMPT = "> "
_INDENT = "  "
_SECONDS_A_DRAWING = 0.03


class LineEditor:
    """Reads lines at a prompt that stays the last line of the screen.

    Enter takes the line. Alt+Enter, or Enter after a backslash, begins a new one in it; pasted
    lines stay together. What is written to `stdout` and `stderr` appears above the prompt, the line
    that is not complete yet included.

    Args:
        terminal: Standard output.
        history: The lines of before, for the arrow keys.
        completer: What Tab offers.
        images: Keeps the images that are pasted; None where none can be.
    """

    def __init__(
        self,
        terminal: TextIO,
        history: History,
        completer: LineCompleter,
        images: PastedImages | None = None,
    ) -> None:
        output = Vt100_Output.from_pty(terminal, enable_bell=False)
        # No terminal has to say where its cursor is: some never answer, and an answer that comes
        # late would be read as if it was typed.
        output.enable_cpr = False
        encoding = terminal.encoding or "utf-8"
        self._streams = [LineStream(self._put, self._draw_soon, encoding) for _ in range(2)]
        self.stdout, self.stderr = (cast("IO[str]", stream) for stream in self._streams)
        self._terminal = terminal
        self._images = images
        self._above: list[str] = []
        self._rows: Sequence[str] = ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_drawing = False
        self._question = asyncio.Lock()
        self._is_suspended = False
        self._is_gone = False
        self._take: Callable[[str], None] = lambda _: None
        self._interrupt: Callable[[], None] = lambda: None
        self._change_mode: Callable[[], None] = lambda: None
        self._find_mode: Callable[[], str] = lambda: ""
        self._session: PromptSession[bool] = PromptSession(
            message=self._make_prompt,
            multiline=True,
            prompt_continuation=_INDENT,
            wrap_lines=True,
            complete_while_typing=False,
            completer=completer,
            history=history,
            key_bindings=self._bind_keys(),
            enable_suspend=True,
            erase_when_done=True,
            output=output,
        )

    async def run(
        self,
        take: Callable[[str], None],
        interrupt: Callable[[], None],
        change_mode: Callable[[], None],
        find_mode: Callable[[], str],
    ) -> bool:
        """Read until `end`, Ctrl+D or the end of the terminal; see `Lines`."""
        self._take, self._interrupt = take, interrupt
        self._change_mode, self._find_mode = change_mode, find_mode
        self._loop = asyncio.get_running_loop()
        try:
            await self._session.prompt_async(handle_sigint=False, set_exception_handler=False)
        except (EOFError, OSError):
            self._is_gone = True
        finally:
            self._loop = None
            self._draw()
        return not self._is_gone

    def end(self) -> None:
        """Read no more lines."""
        app = self._session.app
        if app.is_running and not app.is_done:
            app.exit(result=True)

    def clear(self) -> bool:
        """Drop what is typed; whether there was something."""
        buffer = self._session.default_buffer
        had_text = bool(buffer.text)
        buffer.reset()
        return had_text

    def put_back(self, text: str) -> None:
        """Put a line that was taken before what is typed."""
        buffer = self._session.default_buffer
        buffer.set_document(Document("\n".join(filter(None, [text, buffer.text]))))
        self._session.app.invalidate()

    def show_typed(self, text: str) -> None:
        """Leave a line that was taken on the screen."""
        rows = text.split("\n")
        self._put("".join(f"{_INDENT if n else _PROMPT}{row}\n" for n, row in enumerate(rows)))

    def show_rows(self, rows: Sequence[str]) -> None:
        """Show rows above the prompt until they are others; with styles, and safe to show."""
        self._rows = rows
        self._draw_soon()

    def show_prompt(self) -> None:
        """Do nothing: the prompt is always there."""

    @contextlib.asynccontextmanager
    async def suspend(self) -> AsyncGenerator[None]:
        """Leave the terminal to something else that reads from it."""
        async with self._question:
            self._draw()
            self._is_suspended = True
            try:
                async with in_terminal():
                    yield
            finally:
                self._is_suspended = False
                self._draw_soon()

    def _make_prompt(self) -> StyleAndTextTuples:
        live = next((stream.live for stream in self._streams if stream.live), "")
        lines = "".join(f"{line}\n" for line in (live, *self._rows) if line)
        mode = self._find_mode()
        return [*to_formatted_text(ANSI(lines)), ("", f"{mode} {_PROMPT}" if mode else _PROMPT)]

    def _put(self, text: str) -> None:
        self._above.append(text)
        self._draw_soon()

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
        if self._is_suspended:
            return
        app = self._session.app
        try:
            if self._above:
                text = "".join(self._above)
                self._above.clear()
                if app.is_running:
                    app.renderer.erase()
                self._terminal.write(text)
                self._terminal.flush()
        except OSError:
            self._is_gone = True
            self.end()
            return
        app.invalidate()

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        buffer_is_empty = Condition(lambda: not self._session.default_buffer.text)
        is_typing = Condition(lambda: self._session.app.current_buffer is self._buffer)

        def enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state is not None and buffer.complete_state.current_completion:
                buffer.complete_state = None
                return
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
                return
            # A terminal can send bytes that are no text.
            text = buffer.text.encode("utf-8", "replace").decode()
            if text.strip():
                buffer.history.append_string(text)
            buffer.reset()
            self._take(text)

        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        def interrupt(_: KeyPressEvent) -> None:
            self._interrupt()

        def change_mode(event: KeyPressEvent) -> None:
            self._change_mode()
            event.app.invalidate()

        def end(_: KeyPressEvent) -> None:
            self.end()

        keys.add("enter", filter=is_typing)(enter)
        keys.add("escape", "enter", filter=is_typing)(new_line)
        keys.add("c-c", filter=is_typing)(interrupt)
        keys.add("s-tab", filter=is_typing & ~has_completions)(change_mode)
        keys.add("c-d", filter=is_typing & buffer_is_empty)(end)
        if self._images is not None:
            bind_attaching(keys, self._images, is_typing)
        return keys

    @property
    def _buffer(self) -> object:
        return self._session.default_buffer
