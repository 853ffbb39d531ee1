"""A panel whose text is drawn while it arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from amplifier_app.display.wrapping import Wrapper

if TYPE_CHECKING:
    from amplifier_app.display.screen import Screen


class StreamingPanel:
    """A titled frame around wrapped text: top edge, lines as they come, bottom edge.

    Unlike `rich.panel.Panel` it is never redrawn, so that it can be longer than the screen. In a
    pipe it has no right edge and no wrapping: each line is as the model wrote it.
    """

    def __init__(self, screen: Screen, title: str, *, style: str, border: str) -> None:
        self._screen = screen
        self._style = style
        self._border = border
        glyphs = screen.glyphs
        self._width = screen.width
        top = f"{glyphs.top_left}{glyphs.across} {title}"
        if screen.is_terminal:
            top += " "
            top += glyphs.across * (self._width - cell_len(top) - 1) + glyphs.top_right
        screen.write_line((top, border))
        self._wrapper = Wrapper(
            screen.write,
            self._width - 2 if screen.is_terminal else 1 << 30,
            prefix=(f"{glyphs.down} ", border),
            edge=(f" {glyphs.down}", border) if screen.is_terminal else None,
        )

    def feed(self, text: str) -> None:
        """Draw what the text completes; it must be printable already."""
        self._wrapper.feed(text, self._style)

    def break_line(self) -> None:
        """End the line so that something else can be printed."""
        self._wrapper.break_line()

    def finish(self) -> None:
        """Draw the rest and the bottom edge."""
        self._wrapper.finish()
        glyphs = self._screen.glyphs
        bottom = f"{glyphs.bottom_left}{glyphs.across}"
        if self._screen.is_terminal:
            bottom += glyphs.across * (self._width - 3) + glyphs.bottom_right
        self._screen.write_line((bottom, self._border))
