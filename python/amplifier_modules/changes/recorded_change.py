"""What is noted of a change: which call made it, and where it is kept."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

Level = Literal["exact", "tracked"]
"""How well a change can be taken back: in everything, or in what git would keep of it."""


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
    is_undone: bool = False

    def save(self, notes: Path) -> None:
        """Write the note, whole or not at all."""
        path = notes / f"{self.number:06}.json"
        new = path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(_NOTE.dump_json(self))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)

    def mark(self, notes: Path, *, is_undone: bool) -> RecordedChange:
        """Note that it was taken back, or made again."""
        marked = replace(self, is_undone=is_undone)
        marked.save(notes)
        return marked

    def remove(self, notes: Path) -> None:
        """Remove the note."""
        (notes / f"{self.number:06}.json").unlink(missing_ok=True)


def read_changes(notes: Path) -> list[RecordedChange]:
    """Return the changes that are noted in a folder, in their order.

    Raises:
        ValueError: A note is damaged.
    """
    return [_read(path) for path in sorted(notes.glob("[0-9]*.json"))]


def _read(path: Path) -> RecordedChange:
    try:
        return _NOTE.validate_json(path.read_bytes())
    except ValidationError as error:
        raise ValueError(f"`{path}` is damaged") from error


_NOTE = TypeAdapter(RecordedChange)
