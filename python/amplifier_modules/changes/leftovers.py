"""What processes that were killed have left of changes."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from .recorded_change import RecordedChange
from .session_lock import ChangesInUseError
from .session_notes import SessionNotes

logger = logging.getLogger(__name__)

_NOTED_IN = "noted-in"
_NAME = re.compile(r"(?P<session>.+)-(?P<number>[0-9]{6,})")


def remove_left_sessions(folder: Path, session_id: str) -> None:
    """Remove the changes of sessions that are not stored, and whose process has ended.

    Args:
        folder: Where the changes of all sessions are noted.
        session_id: The session that looks; it is left alone.
    """
    for name in _list_folders(folder):
        if name == session_id:
            continue
        notes = SessionNotes(folder / name)
        try:
            if notes.claim_unstored():
                notes.remove_all()
        except (ChangesInUseError, OSError) as error:
            logger.debug("what session `%s` has left stays: %s", name, error)
        finally:
            notes.close()


def note_owner(recorded: RecordedChange, notes: Path) -> None:
    """Write into the folder of a change where it is noted."""
    Path(recorded.folder, _NOTED_IN).write_text(str(notes))


def remove_left_changes(place: Path, folder: Path) -> None:
    """Remove changes beside a project that are not noted any more.

    Args:
        place: The folder beside the project.
        folder: Where the changes of all sessions are noted. What is noted elsewhere stays.
    """
    for name in _list_folders(place):
        found = _NAME.fullmatch(name)
        if found is None:
            continue
        notes = SessionNotes(folder / found["session"])
        number = int(found["number"])
        try:
            if notes.has_note(number) or _read_owner(place / name) != str(notes.folder):
                continue
            if notes.folder.is_dir():
                notes.load()  # who makes changes has the lock
            if not notes.has_note(number):
                _remove_change(place / name, number)
        except (ChangesInUseError, OSError) as error:
            logger.debug("what is left in `%s` stays: %s", place / name, error)
        finally:
            notes.close()


def _remove_change(folder: Path, number: int) -> None:
    RecordedChange(number, 0, "", None, "", project="", folder=str(folder)).remove_versions()


def _read_owner(folder: Path) -> str | None:
    try:
        return (folder / _NOTED_IN).read_text()
    except (OSError, ValueError):
        return None


def _list_folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [each.name for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
