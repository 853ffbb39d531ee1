"""Long texts of a conversation in files beside its own, for the sessions that go on with it."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import stat
from collections.abc import Generator
from pathlib import Path

from .stored_texts import StoredText, describe_text

logger = logging.getLogger(__name__)

_NAME = re.compile(r"([0-9a-f]{16})\.txt")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_HAS_HANDLES = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether a folder can be opened, so that what happens in it follows no link that takes its place."""


class StoredFiles:
    """Texts in a folder that only the user can read. The oldest are removed for new ones."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """Keep at most so many bytes in the folder, which is made when it is needed.

        Raises:
            NotADirectoryError: The folder is a link, or a file.
            OSError: It cannot be read.
        """
        self._folder = folder
        self._most_bytes = most_bytes
        self._bytes: dict[str, int] = {}
        """The sizes of the texts by their ids, the oldest first."""
        found: list[tuple[float, str, int]] = []
        with (
            contextlib.suppress(FileNotFoundError),
            self._open_folder() as handle,
            os.scandir(folder if handle is None else handle) as entries,
        ):
            for entry in entries:
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
        stored = describe_text(text)
        if stored.bytes > self._most_bytes:
            return None
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._open_folder() as handle:
            new, place = (
                self._find_path(handle, name)
                for name in (f".{stored.id}.new", _name_file(stored.id))
            )
            with contextlib.suppress(FileNotFoundError):  # of a session that ended here
                os.unlink(new, dir_fd=handle)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
            descriptor = os.open(new, flags, 0o600, dir_fd=handle)
            with open(descriptor, "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
            os.replace(new, place, src_dir_fd=handle, dst_dir_fd=handle)
            self._bytes.pop(stored.id, None)
            self._bytes[stored.id] = stored.bytes
            while sum(self._bytes.values()) > self._most_bytes:
                self._remove(handle, next(iter(self._bytes)))
        return stored

    def get(self, id: str) -> str | None:
        """Return a text; None if there is none of this id, or no longer."""
        if id not in self._bytes:
            return None
        try:
            with self._open_folder() as handle:
                flags = os.O_RDONLY | _NO_LINK
                descriptor = os.open(self._find_path(handle, _name_file(id)), flags, dir_fd=handle)
            with open(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return None
                return file.read(self._most_bytes).decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            path = self._folder / _name_file(id)
            logger.warning("the stored text `%s` cannot be read: %s", path, error)
            return None

    def list_ids(self) -> list[str]:
        """Return the ids, the oldest first."""
        return list(self._bytes)

    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self._bytes

    def clear(self) -> None:
        """Remove all of them, and their folder."""
        with contextlib.suppress(FileNotFoundError), self._open_folder() as handle:
            for id in self.list_ids():
                self._remove(handle, id)
        self._bytes.clear()
        with contextlib.suppress(OSError):  # somebody else has put something there
            self._folder.rmdir()

    def _remove(self, handle: int | None, id: str) -> None:
        del self._bytes[id]
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._find_path(handle, _name_file(id)), dir_fd=handle)

    def _find_path(self, handle: int | None, name: str) -> str:
        """Return the path of a file of the folder, from the handle if there is one."""
        return str(self._folder / name) if handle is None else name

    @contextlib.contextmanager
    def _open_folder(self) -> Generator[int | None]:
        """Open the folder, which must not be a link.

        Yields:
            Its handle; None where the system has none for folders.

        Raises:
            NotADirectoryError: It is a link, or a file.
            OSError: It cannot be opened.
        """
        if self._folder.is_symlink():
            problem = "a link cannot hold the stored texts of a conversation (must be a folder)"
            raise NotADirectoryError(errno.ENOTDIR, problem, str(self._folder))
        if not _HAS_HANDLES:
            yield None
            return
        # Refused as well is a link that took its place meanwhile.
        handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
        try:
            yield handle
        finally:
            os.close(handle)


def _name_file(id: str) -> str:
    return f"{id}.txt"
