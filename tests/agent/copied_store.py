"""A store whose files are copied around each of its writes, as a crash at that moment leaves them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from amplifier_modules.stores.sqlite import SqliteStore


class CopiedStore(SqliteStore):
    """Sessions in a folder, and copies of it beside it: `copies`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder=str(folder))
        self.copies: list[Path] = []

    def copy(self) -> int:
        """Make a copy; return how many there were before."""
        place = self.folder.with_name(f"{self.folder.name}-{len(self.copies)}")
        if self.folder.exists():
            shutil.copytree(self.folder, place)
            self.copies.append(place)
        return len(self.copies) - 1

    async def append(self, *given: Any, **options: Any) -> Any:
        """Add events."""
        self.copy()
        claim = await super().append(*given, **options)
        self.copy()
        return claim

    async def put(self, *given: Any) -> int:
        """Add an entry to the inbox."""
        self.copy()
        entry = await super().put(*given)
        self.copy()
        return entry
