"""A list on the whole screen of which a person chooses one: searched by typing, with a preview."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from amplifier_app.plain_mode import is_plain

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.output import Output

BESIDE_COLUMNS = 100
"""From this width on the preview is beside the list, else below it."""
_KEYS = "type to search · ↑ ↓ PageUp PageDown · Enter takes it · Esc leaves"
_ESCAPE_SECONDS = 0.05
_USED_ROWS = 3
"""The heading, what is searched for, and the keys."""


@dataclass
class PickerRow:
    """Something that can be chosen; all of its texts are safe to show, without secrets."""

    title: str
    details: str = ""
    said: str = ""
    """More that is searched, and not shown."""
    preview: Sequence[str] = field(default_factory=tuple[str, ...])

    def has_words(self, words: Sequence[str]) -> bool:
        """Whether each of some words, in lower case, is in it."""
        text = f"{self.title}\n{self.details}\n{self.said}".casefold()
        return all(each in text for each in words)


class Picker:
    """What is found, what is chosen, and how it is drawn."""

    def __init__(self, heading: str, rows: Sequence[PickerRow], *, shows_end: bool = False) -> None:
        """Choose the first row.

        Args:
            heading: What is asked.
            rows: What there is; what they say may change while they are shown.
            shows_end: Whether the end of a preview is shown where it is too long, not its beginning.
        """
        self._heading = heading
        self._rows = rows
        self._shows_end = shows_end
        self.search = ""
        self._chosen = 0
        self._page = 10
        self._app: Application[int | None] | None = None

    def list_found(self) -> list[int]:
        """Return the places of the rows that have all words of the search."""
        words = self.search.casefold().split()
        return [place for place, row in enumerate(self._rows) if row.has_words(words)]

    def find_chosen(self) -> int | None:
        """Return the place of the row that is chosen: the first one that is found, once it is not."""
        found = self.list_found()
        if self._chosen not in found and found:
            return found[0]
        return self._chosen if found else None

    def move_to(self, step: int) -> None:
        """Choose another row, so many behind the one that is chosen, or the last on the way."""
        found, chosen = self.list_found(), self.find_chosen()
        if chosen is not None:
            place = found.index(chosen) + step
            self._chosen = found[max(0, min(place, len(found) - 1))]

    def refresh(self) -> None:
        """Draw it again, as rows have changed."""
        if self._app is not None:
            self._app.invalidate()

    async def run(self, output: Output, input: Input) -> int | None:
        """Let a person choose, and return the place of the row; None for none."""
        from prompt_toolkit.application import Application
        from prompt_toolkit.layout import FormattedTextControl, Layout, Window

        def draw() -> StyleAndTextTuples:
            size = output.get_size()
            return self.draw(size.columns, size.rows)

        control = FormattedTextControl(draw, focusable=True, show_cursor=True)
        self._app = Application(
            layout=Layout(Window(control, wrap_lines=False)),
            key_bindings=self._bind_keys(),
            full_screen=True,
            output=output,
            input=input,
        )
        self._app.ttimeoutlen = _ESCAPE_SECONDS
        return await self._app.run_async(handle_sigint=False, set_exception_handler=False)

    def draw(self, columns: int, rows: int) -> StyleAndTextTuples:
        """Return what is on a screen of a size."""
        is_beside = columns >= BESIDE_COLUMNS
        width = columns * 3 // 5 if is_beside else columns
        height = max(1, rows - _USED_ROWS)
        above = height if is_beside else max(1, height // 2)
        self._page = max(1, above - 1)
        chosen = self.find_chosen()
        listed = self._draw_list(width - 1, above, chosen)
        preview = self._draw_preview(
            columns - width - 2 if is_beside else columns - 1,
            height if is_beside else height - above - 1,
            chosen,
        )
        lines: list[list[tuple[str, str]]] = [[("bold", cut_cells(self._heading, columns - 1))]]
        searched = cut_cells(f"search: {self.search}", columns - 2)
        lines.append([("", searched), ("[SetCursorPosition]", ""), ("", " ")])
        if is_beside:
            for place in range(height):
                style, text = listed[place] if place < len(listed) else ("", "")
                shown = preview[place] if place < len(preview) else ""
                lines.append([(style, pad_cells(text, width - 1)), ("", f"│ {shown}")])
        else:
            lines += [[each] for each in listed]
            lines += [[("", "")]] * (above - len(listed))
            if height - above > 0:
                lines.append([("", "─" * (columns - 1))])
            lines += [[("", each)] for each in preview]
            lines += [[("", "")]] * (height - above - 1 - len(preview))
        lines.append([("", cut_cells(_KEYS, columns - 1))])
        parts: StyleAndTextTuples = []
        for line in lines:
            parts += [("", "\n"), *line] if parts else line
        return parts

    def _draw_list(self, width: int, height: int, chosen: int | None) -> list[tuple[str, str]]:
        found = self.list_found()
        if chosen is None:
            return [("", cut_cells("nothing is found", width))]
        first = max(0, min(found.index(chosen) - height // 2, len(found) - height))
        return [
            (
                "reverse" if place == chosen else "",
                _join_cells(self._rows[place], width, is_chosen=place == chosen),
            )
            for place in found[first : first + height]
        ]

    def _draw_preview(self, width: int, height: int, chosen: int | None) -> list[str]:
        if chosen is None or width < 1 or height < 1:
            return []
        wrapped = [
            cut_cells(part, width)
            for line in self._rows[chosen].preview
            for part in (textwrap.wrap(line, width) or [""])
        ]
        return wrapped[-height:] if self._shows_end else wrapped[:height]

    def _bind_keys(self) -> KeyBindings:
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
        from prompt_toolkit.keys import Keys

        keys = KeyBindings()

        def bind(key: str, work: Callable[[KeyPressEvent], object]) -> None:
            keys.add(key)(work)

        def search(text: str) -> None:
            self.search = text

        def type_text(event: KeyPressEvent) -> None:
            search(self.search + "".join(each for each in event.data if each.isprintable()))

        bind("enter", lambda event: event.app.exit(result=self.find_chosen()))
        for key in ("escape", "c-c", "c-d"):
            bind(key, lambda event: event.app.exit(result=None))
        for key, step in (("up", -1), ("down", 1), ("c-p", -1), ("c-n", 1)):
            bind(key, lambda _, step=step: self.move_to(step))
        bind("pageup", lambda _: self.move_to(-self._page))
        bind("pagedown", lambda _: self.move_to(self._page))
        bind("home", lambda _: self.move_to(-len(self._rows)))
        bind("end", lambda _: self.move_to(len(self._rows)))
        bind("backspace", lambda _: search(self.search[:-1]))
        bind("c-u", lambda _: search(""))
        bind(Keys.BracketedPaste, type_text)
        bind(Keys.Any, type_text)
        return keys


def cut_cells(text: str, width: int) -> str:
    """Return as much of a text as has a place in so many cells of a terminal."""
    from prompt_toolkit.utils import get_cwidth

    if get_cwidth(text) <= width:
        return text
    cut, used = "", 1
    for each in text:
        used += get_cwidth(each)
        if used > width:
            break
        cut += each
    return f"{cut}…" if width > 0 else ""


def pad_cells(text: str, width: int) -> str:
    """Return a text with spaces up to a width."""
    from prompt_toolkit.utils import get_cwidth

    cut = cut_cells(text, width)
    return cut + " " * (width - get_cwidth(cut))


def _join_cells(row: PickerRow, width: int, *, is_chosen: bool) -> str:
    mark = "> " if is_chosen else "  "
    if not row.details:
        return cut_cells(mark + row.title, width)
    room = min(len(row.details), max(width // 2, width - 40))
    details = cut_cells(row.details, room)
    return pad_cells(mark + row.title, max(2, width - len(details) - 1)) + f" {details}"


def find_drawable() -> TextIO | None:
    """Return the terminal that a picker can be drawn on; None where a numbered list is shown."""
    terminal = sys.__stdout__
    if terminal is None or not terminal.isatty() or is_plain(os.environ):
        return None
    return terminal


async def pick(picker: Picker, terminal: TextIO) -> int | None:
    """Let a person choose at the terminal of this process; see `Picker.run`."""
    from prompt_toolkit.input import create_input
    from prompt_toolkit.output.vt100 import Vt100_Output

    return await picker.run(Vt100_Output.from_pty(terminal, enable_bell=False), create_input())
