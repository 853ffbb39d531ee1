"""The characters that the display draws with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """The signs before and between what is drawn."""

    bar: str
    across: str
    call: str
    good: str
    bad: str
    bullet: str
    quote: str
    dot: str
    spinner: str

    @property
    def is_unicode(self) -> bool:
        """Whether other characters than those of ASCII can be drawn."""
        return not self.bullet.isascii()


UNICODE = Glyphs("│", "─" * 20, "●", "✓", "✗", "•", "▎", "·", "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
ASCII = Glyphs("|", "-" * 20, "*", "ok", "failed", "-", ">", "-", "|/-\\")
PLAIN = Glyphs(" ", "---", "call", "ok", "failed", "-", ">", "-", "-")
"""Those that a screen reader can read aloud."""
