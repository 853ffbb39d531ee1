"""Fifty sessions in a terminal, each in one of its kinds: what is typed, shown and left on the disk."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from emulated_window import EmulatedWindow
from played_session import Session, Stage
from session_checks import SESSIONS, check_session, place
from terminal_modes import MODES, Mode

__all__ = ["place"]

MOVES = re.compile("[\x1b\b]|\r(?!\r*\n)")
COLORS = re.compile(r"\x1b\[(?:\d*;)*(?:3[0-8]|4[0-8]|9\d|10[0-7])[;m]")
DRAWN = [mode for mode in MODES if not mode.is_plain]


def choose_mode(number: int, session: Session) -> Mode:
    """Each session in another mode than the one before it."""
    return DRAWN[number % len(DRAWN)] if session.is_drawn else MODES[number % len(MODES)]


CHOSEN = [(session, choose_mode(number, session)) for number, session in enumerate(SESSIONS)]


# Holds: terminal-1, terminal-2
@pytest.mark.parametrize(
    ("session", "mode"), CHOSEN, ids=[f"{each.name}-{mode.name}" for each, mode in CHOSEN]
)
def test_what_is_typed_is_shown_and_left_on_the_disk(
    place: Any, model: Any, session: Session, mode: Mode
) -> None:
    stage = Stage(place, model, mode, EmulatedWindow)
    try:
        stage.play(session)
    finally:
        stage.close()
    check_session(stage, session)
    written = stage.written + stage.window.written
    assert not (mode.is_plain and MOVES.search(written)), repr(written)
    assert mode.has_colors or not COLORS.search(written), repr(written)
