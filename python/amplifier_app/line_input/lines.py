"""Where the lines of a conversation come from, and what is shown beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import IO, Protocol


class Lines(Protocol):
    """Reads lines until one of both sides ends it."""

    @property
    def stdout(self) -> IO[str]:
        """Where a turn draws: what is written never tears the line that is being typed."""
        ...

    @property
    def stderr(self) -> IO[str]:
        """The same for notices and errors."""
        ...

    async def run(
        self,
        take: Callable[[str], None],
        interrupt: Callable[[], None],
        change_mode: Callable[[], None],
        find_mode: Callable[[], str],
    ) -> bool:
        """Read until `end`, Ctrl+D or the end of the terminal.

        Args:
            take: Takes each line, which may hold line breaks.
            interrupt: Called for Ctrl+C.
            change_mode: Called for Shift+Tab, where keys are read.
            find_mode: Returns the mode that the prompt shows; empty for none.

        Returns:
            Whether the terminal is still there.
        """
        ...

    def end(self) -> None:
        """Read no more lines."""
        ...

    def clear(self) -> bool:
        """Drop what is typed; whether there was something."""
        ...

    def put_back(self, text: str) -> None:
        """Put a line that was taken before what is typed."""
        ...

    def show_typed(self, text: str) -> None:
        """Leave a line that was taken on the screen; `text` is safe to show."""
        ...

    def show_rows(self, rows: Sequence[str]) -> None:
        """Show rows above the prompt until they are others; with styles, and safe to show."""
        ...

    def show_prompt(self) -> None:
        """Show that the next line begins a turn."""
        ...

    def suspend(self) -> AbstractAsyncContextManager[None]:
        """Leave the terminal to something else that reads from it."""
        ...
