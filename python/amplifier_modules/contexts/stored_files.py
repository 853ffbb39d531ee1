"""Long texts of a conversation in files beside its own, for the sessions that go on with it."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import stat
from pathlib import Path

from .stored_texts import StoredText, described

logger = logging.getLogger(__name__)

_NAME = re.compile(r"([0-9a-f]{16})\.txt")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class StoredFiles:
    """Texts in a folder that only the user can read. The oldest are removed for new ones."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """Keep at most so many bytes in the folder, which is made when it is needed."""
        self._folder = folder
        self._most_bytes = most_bytes
        self._bytes: dict[str, int] = {}
        """The sizes of the texts by their ids, the oldest first."""
        found: list[tuple[float, str, int]] = []
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for entry in os.scandir(folder):
                name = _NAME.fullmatch(entry.name)
                if name is not None and entry.is_file(follow_symlinks=False):
                    facts = entry.stat(follow_symlinks=False)
                    found.append((facts.st_mtime, name[1], facts.st_size))
        for _, id, size in sorted(found):
            self._bytes[id] = size

    def put(self, text: str) -> StoredText | None:
        """Keep a text; None if it is longer than all of them may be together.

        Raises:
            OSError: It cannot be written.
        """
        stored = described(text)
        if stored.bytes > self._most_bytes:
            return None
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._folder / f".{stored.id}.new"
        new.unlink(missing_ok=True)  # of a session that ended here
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        with open(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        new.replace(self._path(stored.id))
        self._bytes.pop(stored.id, None)
        self._bytes[stored.id] = stored.bytes
        while sum(self._bytes.values()) > self._most_bytes:
            self._remove(next(iter(self._bytes)))
        return stored

    def get(self, id: str) -> str | None:
        """Return a text; None if there is none of this id, or no longer."""
        if id not in self._bytes:
            return None
        try:
            descriptor = os.open(self._path(id), os.O_RDONLY | _NO_LINK)
            with open(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return None
                return file.read(self._most_bytes).decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            logger.warning("the stored text `%s` cannot be read: %s", self._path(id), error)
            return None

    def ids(self) -> list[str]:
        """Return the ids, the oldest first."""
        return list(self._bytes)

    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self._bytes

    def clear(self) -> None:
        """Remove all of them, and their folder."""
        for id in self.ids():
            self._remove(id)
        with contextlib.suppress(OSError):  # somebody else has put something there
            self._folder.rmdir()

    def _remove(self, id: str) -> None:
        del self._bytes[id]
        self._path(id).unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.txt"
