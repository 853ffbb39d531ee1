"""A screen on a console of `rich` that belongs to somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from rich.theme import Theme
from typing_extensions import override

from amplifier_app.display.screen import STYLES, Screen

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class ConsoleScreen(Screen):
    """Draws through the console, so that what records or captures it gets everything."""

    def __init__(self, console: Console) -> None:
        super().__init__(console.file, console=console)
        self._theme = Theme(STYLES)

    @override
    def render(self, renderable: RenderableType) -> None:
        with self._console.use_theme(self._theme):
            self._console.print(renderable, width=self.width)
        self._wrote("x\n")  # the last line of it has text

    @override
    def _put(self, text: str, style: str) -> None:
        with self._console.use_theme(self._theme):
            self._console.print(Text(text, style), end="", soft_wrap=True)
