"""What a session is shown through: the live display, or JSON lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol


class Output(Protocol):
    """What shows a session to the user or to a program."""

    @property
    def shows_blocks(self) -> bool:
        """Whether it shows the blocks of an answer, and not only the answer."""
        ...

    @property
    def failure(self) -> OSError | None:
        """Why nothing more can be written, if so."""
        ...

    def call_on_failure(self, act: Callable[[], object]) -> None:
        """Call this as soon as nothing more can be written."""
        ...

    def handle(self, event: str, data: Any) -> None:
        """Take one event."""
        ...

    def show_message(
        self, message: str, level: Literal["info", "warning", "error"], source: str = "hook"
    ) -> None:
        """Show a message of a hook."""
        ...

    def answer(self, text: str) -> None:
        """Take the answer of the turn."""
        ...

    def break_line(self) -> None:
        """End a line that is being drawn."""
        ...

    def hold(self) -> None:
        """End a line that is being drawn, and draw nothing until `release`."""
        ...

    def release(self) -> None:
        """Draw what has come in the meantime."""
        ...

    def finish(self) -> None:
        """Close what is open."""
        ...
