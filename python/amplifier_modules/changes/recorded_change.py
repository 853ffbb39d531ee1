"""What is noted of a change: which call made it, and where it is kept."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from .change import Change, ChangeError

Level = Literal["exact", "tracked"]
"""How well a change can be taken back: in everything, or in what git would keep of it."""

Removal = Literal["space", "ignored", "damaged"]
"""Why a change is not kept any more."""


@dataclass(frozen=True)
class RecordedChange:
    """A change of one session, as it is noted on the disk."""

    number: int
    """Counted from 1 in its session."""
    turn: int
    """The turn that it was made in, counted from 1."""
    tool: str
    """The tool that made it."""
    call_id: str | None
    """The call of the tool, as the model named it."""
    session_id: str
    """The session of the call: this one, or a sub-agent of it."""
    project: str
    """The folder that it changed."""
    folder: str
    """Where it is kept."""
    level: Level = "exact"
    trees: tuple[str, str] | None = None
    """What the project was before and after; of a tracked change."""
    event: int | None = None
    """The number of the last event of the session before it; None if the session is not stored."""
    is_done: bool = False
    """Whether it was made to its end."""
    held: str | None = None
    """The hash of its layer, if a person was asked about it; it is kept until they have answered."""
    is_undone: bool = False
    is_command: bool = False
    """Whether a command made it, and not a write of a file tool."""
    size: int = 0
    """Bytes of the disk that it takes where it is kept."""
    has_unignored: bool = False
    """Whether it is known that it changed something that git does not ignore."""
    removed: Removal | None = None
    """Why it is not kept any more, and cannot be taken back; None while it is."""

    @property
    def is_waiting(self) -> bool:
        """Whether a person has not answered yet, as far as the note knows."""
        return self.held is not None and not self.is_done

    def save_note(self, notes: Path) -> None:
        """Write the note, whole or not at all."""
        path = self._locate(notes)
        new = path.with_suffix(".new")
        try:
            with new.open("wb") as file:
                file.write(_NOTE.dump_json(self))
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise

    def remove(self, notes: Path) -> None:
        """Remove the note."""
        self._locate(notes).unlink(missing_ok=True)

    def remove_versions(self) -> None:
        """Remove what is kept.

        Raises:
            ChangeError: The disk refuses it.
        """
        if self.level != "exact" or not os.path.lexists(self.folder):
            return
        try:
            change = Change(self.project, self.folder)
        except ChangeError:
            # A crash at its beginning: nothing was made in it that needs more than this.
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        change.remove()

    def _locate(self, notes: Path) -> Path:
        return notes / f"{self.number:06}.json"


def read_changes(notes: Path) -> list[RecordedChange]:
    """Return the changes that are noted in a folder, in their order.

    What is no note is put aside, and another one says that it was damaged.
    """
    changes: list[RecordedChange] = []
    for path in sorted(notes.glob("[0-9]*.json"), key=lambda each: (len(each.name), each.name)):
        if not (path.stem.isdecimal() and len(path.stem) >= 6):
            continue  # not ours
        recorded = _read(path, notes)
        if recorded is None:
            turn = changes[-1].turn if changes else 1
            recorded = _replace_damaged(path, notes, turn)
        changes.append(recorded)
    return changes


def _read(path: Path, notes: Path) -> RecordedChange | None:
    try:
        if path.is_symlink() or not path.is_file():
            return None
        recorded = _NOTE.validate_json(path.read_bytes())
    except ValidationError:
        return None
    # A folder that a foreign note names must not be removed.
    places = (str(notes / path.stem), f"/.amplifier-changes/{notes.name}-{path.stem}")
    is_ours = recorded.folder == places[0] or recorded.folder.endswith(places[1])
    return recorded if is_ours and recorded.number == int(path.stem) else None


def _replace_damaged(path: Path, notes: Path, turn: int) -> RecordedChange:
    aside = path.with_suffix(".damaged")
    if aside.is_dir() and not aside.is_symlink():
        shutil.rmtree(aside)
    elif os.path.lexists(aside):
        aside.unlink()
    path.rename(aside)
    recorded = RecordedChange(
        number=int(path.stem),
        turn=turn,
        tool="",
        call_id=None,
        session_id=notes.name,
        project="",
        folder=str(notes / path.stem),
        is_done=True,
        removed="damaged",
    )
    recorded.save_note(notes)
    return recorded


_NOTE = TypeAdapter(RecordedChange)
