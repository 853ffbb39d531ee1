"""What is to be done to a file, or was done to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FileKind = Literal["created", "modified", "renamed", "deleted", "unchanged"]
"""What becomes of a file; a renamed one may also be modified."""


@dataclass(frozen=True)
class FileWrite:
    """What a write does to a file; paths are from the root, links followed."""

    path: str
    """Where the file is in the end; of a deleted one, where it was."""
    kind: FileKind
    before: bytes | None
    """What it held; None for a new one."""
    after: bytes | None
    """What it is to hold; None for a deleted one."""
    old_path: str | None = None
    """Where a renamed file was."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths at which something changes."""
        return (self.path,) if self.old_path is None else (self.old_path, self.path)
