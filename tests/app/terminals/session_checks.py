"""All sessions of the tables, and what is checked of each when it was played."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from expected_screen import compare_screen, expect_screen
from played_session import Session, Stage
from table_answers import ANSWERS
from table_commands import COMMANDS
from table_keys import KEYS
from table_questions import QUESTIONS

SESSIONS = (*ANSWERS, *QUESTIONS, *KEYS, *COMMANDS)


@pytest.fixture
def place(keyed: Any) -> Iterator[Any]:
    """The command in a folder whose name fits into each terminal."""
    with TemporaryDirectory(prefix="") as folder:
        keyed.folder = Path(folder) / "f"
        keyed.folder.mkdir()
        keyed.environment["XDG_CONFIG_HOME"] = f"{folder}/c"
        yield keyed


def check_session(stage: Stage, session: Session) -> None:
    """What is on the screen and on the disk is what must be."""
    screen = stage.read_screen()
    assert compare_screen(session, stage.mode, screen) == expect_screen(session, stage.mode), screen
    left = {**session.files, **session.left}
    assert stage.list_files() == {path: text for path, text in left.items() if text is not None}
    assert stage.list_stored() == session.stored
