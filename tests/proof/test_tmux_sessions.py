"""Each session of the table in each kind of terminal, in windows of tmux."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

APP = Path(__file__).parents[1] / "app"
sys.path[:0] = [str(Path(__file__).parent), str(APP / "terminals"), str(APP)]

from played_session import Session, Stage
from scripted_command import command, keyed, model
from session_checks import SESSIONS, check_session, place
from terminal_modes import MODES, Mode
from tmux_window import TmuxWindow

__all__ = ["command", "keyed", "model", "place"]

PLAYED = [
    (session, mode) for session in SESSIONS for mode in MODES
    if not (mode.is_plain and session.is_drawn)
]  # fmt: skip


# Holds: terminal-1
@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
@pytest.mark.parametrize(
    ("session", "mode"), PLAYED, ids=[f"{each.name}-{mode.name}" for each, mode in PLAYED]
)
def test_what_is_typed_in_tmux_is_shown_and_left_on_the_disk(
    place: Any, model: Any, session: Session, mode: Mode
) -> None:
    with TemporaryDirectory() as folder:
        stage = Stage(place, model, mode, partial(TmuxWindow, Path(folder)))
        try:
            stage.play(session)
            check_session(stage, session)
        finally:
            stage.close()
