"""Draws the prompt, and what was written above it, and finds the prompt again after a resize."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.renderer import Renderer
from typing_extensions import override

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.layout.layout import Layout
    from prompt_toolkit.output import Output
    from prompt_toolkit.styles import BaseStyle

    from amplifier_app.line_input.whole_writes import WholeWrites

_REFLOWING_VARIABLES = (
    *("TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "WT_SESSION"),
    *("ALACRITTY_WINDOW_ID", "KONSOLE_VERSION", "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID"),
)
_REFLOWING_TERMS = ("tmux", "foot", "alacritty", "xterm-kitty", "xterm-ghostty", "wezterm")
_REFLOWING_PROGRAMS = (
    "vscode",
    "Apple_Terminal",
    "iTerm.app",
    "WezTerm",
    "ghostty",
    "WarpTerminal",
)


def find_reflow(environment: Mapping[str, str]) -> bool:
    """Whether the terminal breaks rows anew when it gets another width.

    Of one that is not known the answer is no: too few rows are erased then, and never too many.
    """
    return (
        any(environment.get(name) for name in _REFLOWING_VARIABLES)
        or environment.get("TERM", "").startswith(_REFLOWING_TERMS)
        or environment.get("TERM_PROGRAM") in _REFLOWING_PROGRAMS
    )


class PromptRenderer(Renderer):
    """Writes each drawing at once, with the lines that come above the prompt.

    Args:
        style: The style of the application.
        output: Writes to `writes`.
        writes: The terminal.
        take_above: Returns whole lines that are to be above the prompt.
        is_reflowing: Whether the terminal breaks rows anew when it gets another width.
    """

    def __init__(
        self,
        style: BaseStyle,
        output: Output,
        writes: WholeWrites,
        take_above: Callable[[], str],
        *,
        is_reflowing: bool,
    ) -> None:
        self._writes = writes
        self._take_above = take_above
        self._is_reflowing = is_reflowing
        self._drawn: list[list[int]] = []
        """The widths of the characters of each row that is drawn."""
        super().__init__(style, output)

    @override
    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        """Draw what is new."""
        with self._writes.hold():
            above = self._take_above()
            if above or self._is_outgrown(layout):
                self.erase()
            if above:
                self.output.write_raw(above)
            super().render(app, layout, is_done)
            before = self._drawn
            self._drawn = _measure(self._last_screen)
            # Some terminals count what was erased at the end of a row when they break it anew.
            if self._is_reflowing and _is_shorter(self._drawn, before):
                self.erase()
                super().render(app, layout, is_done)
                self._drawn = _measure(self._last_screen)

    @override
    def erase(self, leave_alternate_screen: bool = True) -> None:
        """Erase what is drawn, wherever the terminal has moved it to."""
        with self._writes.hold():
            columns = self.output.get_size().columns
            drawn, self._drawn = self._drawn, []
            is_other_width = self._last_size is not None and self._last_size.columns != columns
            if drawn and self._is_reflowing and is_other_width:
                self._cursor_pos = _find_moved(drawn, self._cursor_pos, columns)
            super().erase(leave_alternate_screen)

    def write_above(self) -> None:
        """Write the lines that come above the prompt in its place."""
        with self._writes.hold():
            self.erase()
            self.output.write_raw(self._take_above())
            self.output.flush()

    def _is_outgrown(self, layout: Layout) -> bool:
        """Whether the size of the terminal changed, or less rows are needed than are drawn."""
        size = self.output.get_size()
        if self._last_screen is None or self._last_size != size:
            return self._last_size is not None and self._last_size != size
        needed = layout.container.preferred_height(size.columns, size.rows).preferred
        return needed < self._last_screen.height


def _measure(screen: Screen | None) -> list[list[int]]:
    if screen is None:
        return []
    return [_measure_row(screen.data_buffer[y]) for y in range(screen.height)]


def _measure_row(row: Mapping[int, Any]) -> list[int]:
    """The widths of the characters of a row, but for the space at its end."""
    used = [x for x, cell in row.items() if cell.char.strip()]
    widths: list[int] = []
    x, end = 0, max(used, default=-1)
    while x <= end:
        cell = row.get(x)
        widths.append(1 if cell is None else cell.width or 1)
        x += widths[-1]
    return widths


def _is_shorter(rows: Sequence[Sequence[int]], before: Sequence[Sequence[int]]) -> bool:
    return any(sum(new) < sum(old) for new, old in zip(rows, before, strict=False))


def _find_moved(drawn: Sequence[Sequence[int]], cursor: Point, columns: int) -> Point:
    """Where the cursor is, seen from the first row, after rows were broken anew."""
    above = sum(_count_rows(row, columns) for row in drawn[: cursor.y])
    row: Sequence[int] = drawn[cursor.y] if cursor.y < len(drawn) else ()
    before, x = 0, 0
    while before < len(row) and x < cursor.x:
        x += row[before]
        before += 1
    # Behind the last character the cursor stays in the last row.
    is_behind = before >= len(row)
    y = _count_rows(row if is_behind else row[: before + 1], columns) - 1
    return Point(x=columns, y=above + y)


def _count_rows(widths: Sequence[int], columns: int) -> int:
    """How many rows a terminal of a width breaks a row into."""
    rows, x = 1, 0
    for width in widths:
        if x + width > columns:
            rows, x = rows + 1, 0
        x += width
    return rows
