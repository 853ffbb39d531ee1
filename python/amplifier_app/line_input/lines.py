"""Where the lines of a conversation come from, and what is shown beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import IO, Protocol


def _do_nothing() -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Typing:
    """What is called for what is typed."""

    take: Callable[[str], None]
    """Takes each line, which may hold line breaks."""
    interrupt: Callable[[], None] = _do_nothing
    """Called for Ctrl+C."""
    stop: Callable[[], bool] = lambda: False
    """Called for Esc; returns whether there was something to stop."""
    rewind: Callable[[], None] = _do_nothing
    """Called for Esc Esc at an empty prompt, where there was nothing to stop."""
    change_mode: Callable[[], None] = _do_nothing
    """Called for Shift+Tab, where keys are read."""
    find_mode: Callable[[], str] = lambda: ""
    """Returns the mode that the prompt shows; empty for none."""
    queue: Callable[[str], bool] = lambda _: False
    """Takes a line for later, by Tab; returns whether it did."""
    take_back: Callable[[], str | None] = lambda: None
    """Returns the last line that was taken for later, which is not any more."""
    write_status: Callable[[int], str] = lambda _: ""
    """Returns the line below the prompt for a number of cells; empty for none."""


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

    @property
    def is_lent(self) -> bool:
        """Whether a program of the user has the terminal: Ctrl+C is for that."""
        ...

    async def run(self, typing: Typing) -> bool:
        """Read until `end`, Ctrl+D or the end of the terminal.

        Args:
            typing: What is called for what is typed.

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

    def fold(self, text: str) -> str:
        """Return a line that was taken with marks for the long texts that were pasted."""
        ...

    def show_typed(self, text: str) -> None:
        """Leave a line that was taken on the screen; `text` is safe to show."""
        ...

    def show_rows(self, rows: Sequence[str]) -> None:
        """Show rows above the prompt until they are others; with styles, and safe to show."""
        ...

    def show_queued(self, rows: Sequence[str]) -> None:
        """Show the lines that wait between those and the prompt; safe to show."""
        ...

    def show_prompt(self) -> None:
        """Show that the next line begins a turn."""
        ...

    def suspend(self) -> AbstractAsyncContextManager[Callable[[str], None]]:
        """Leave the terminal to something else that reads from it.

        What that gives back is typed, below what was typed before.
        """
        ...
