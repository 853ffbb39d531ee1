"""Thinking that is drawn while it arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_app.display.wrapping import Wrapper

if TYPE_CHECKING:
    from amplifier_app.display.screen import Screen


class StreamingPanel:
    """A title, and below it wrapped text with a bar at its left.

    Nothing of it depends on how wide the terminal was before, and nothing is redrawn, so that it
    can be longer than the screen. In a pipe each line is as the model wrote it.
    """

    def __init__(self, screen: Screen, title: str, *, style: str, border: str) -> None:
        self._style = style
        screen.write_line((title, border))
        self._wrapper = Wrapper(
            screen.write_spans, screen.find_text_width, prefix=(f"{screen.glyphs.bar} ", border)
        )

    def feed(self, text: str) -> None:
        """Draw what the text completes; it must be printable already."""
        self._wrapper.feed(text, self._style)

    def break_line(self) -> None:
        """End the line so that something else can be printed."""
        self._wrapper.break_line()

    def finish(self) -> None:
        """Draw the rest."""
        self._wrapper.finish()
