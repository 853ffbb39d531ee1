"""The lines that wait until the turn is over."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from amplifier_app.known_secrets import SECRETS

if TYPE_CHECKING:
    from amplifier_app.line_input.lines import Lines

_MAX_CHARS = 200


class LineQueue:
    """Keeps lines in their order, and shows them above the prompt."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._waiting: deque[str] = deque()

    def add(self, text: str) -> None:
        """Have a line wait."""
        self._waiting.append(text)
        self._show()

    def take_first(self) -> str | None:
        """Return the line that is next, which waits no more; None for none."""
        return self._take(self._waiting.popleft) if self._waiting else None

    def take_last(self) -> str | None:
        """Return the line that was added last, which waits no more; None for none."""
        return self._take(self._waiting.pop) if self._waiting else None

    def put_back(self) -> None:
        """Put all lines back into the prompt."""
        while (text := self.take_last()) is not None:
            self._lines.put_back(text)

    def clear(self) -> None:
        """Forget all lines."""
        self._waiting.clear()

    def _take(self, pop: Callable[[], str]) -> str:
        text = pop()
        self._show()
        return text

    def _show(self) -> None:
        written = (SECRETS.write_line(self._lines.fold(each), _MAX_CHARS) for each in self._waiting)
        self._lines.show_queued([f"queued: {each}" for each in written])
