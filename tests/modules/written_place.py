"""A home and a project for tests of what users and projects write for models."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """A home and a project, which is a repository."""

    home: Path
    project: Path

    @classmethod
    def make(cls, folder: Path) -> Place:
        """Make both, with nothing written in them."""
        place = cls(folder / "home", folder / "work" / "project")
        place.home.mkdir()
        (place.project / ".git").mkdir(parents=True)
        return place

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the project, or of the home by `~/`."""
        target = self.home / path[2:] if path.startswith("~/") else self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target
