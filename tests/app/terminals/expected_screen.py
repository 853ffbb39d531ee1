"""What must be on a screen of each kind, from what is there at 80 columns."""

from __future__ import annotations

import re

from played_session import CTRL_D, Session
from terminal_modes import Mode

_SIGNS = (
    (re.compile(r"^● ", re.MULTILINE), "call "),
    (re.compile(r"^  ✓ ", re.MULTILINE), "  ok "),
    (re.compile(r"^  ✗ ", re.MULTILINE), "  failed "),
    (re.compile(r"^• ", re.MULTILINE), "- "),
    (re.compile(r"^▎ ", re.MULTILINE), "> "),
    (re.compile(r"^│ ", re.MULTILINE), "  "),
    (re.compile(r" · "), " - "),
)
_AT_ROWS = ("·", "▎", "│")
"""The signs that stand between what is in a row, or at the beginning of each."""


def expect_screen(session: Session, mode: Mode) -> str | list[list[str]]:
    """Return what must be on the screen: at 80 columns its rows, elsewhere the words of each paragraph."""
    screen = session.screen
    if mode.is_plain:
        screen = write_plain(session) if session.plain_screen is None else session.plain_screen
    return compare_screen(session, mode, screen)


def compare_screen(session: Session, mode: Mode, screen: str) -> str | list[list[str]]:
    """Return what counts of a screen in this mode."""
    if mode.columns == 80:
        return screen
    if not session.has_short_words:
        return "".join(screen.split()).replace("·", "")
    paragraphs = re.split(r"\n\s*\n", screen.strip())
    return [[word for word in each.split() if word not in _AT_ROWS] for each in paragraphs]


def write_plain(session: Session) -> str:
    """Return the screen of a session as it is where a terminal can only print."""
    screen = session.screen
    for pattern, replacement in _SIGNS:
        screen = pattern.sub(replacement, screen)
    if session.steps and session.steps[-1][1] == CTRL_D:  # which leaves the prompt
        text, mark, last = screen.rpartition("`amplifier-core --resume")
        screen = f"{text}>\n{mark}{last}" if mark else f"{screen}>\n"
    return screen
