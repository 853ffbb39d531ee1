"""Versions of files as files, taken out of the store when somebody needs them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO

from amplifier_modules.changes.change import ChangeError

from .entry import Entry, hash_blob
from .private_git import PrivateGit


class Versions:
    """A folder with the contents of entries, each under its digest."""

    def __init__(self, folder: str, git: PrivateGit) -> None:
        """Make the folder if it is not there."""
        self._folder = Path(folder)
        self._git = git
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def retrieve(self, entries: Iterable[Entry | None]) -> None:
        """Have the contents of entries in the folder.

        Raises:
            ChangeError: The store has lost one.
        """
        missing = {each for each in entries if each and not os.path.lexists(self.path_of(each))}
        if not missing:
            return
        ordered = sorted(missing, key=lambda each: each.digest)
        # By a file, as there may be more than fits into memory.
        with TemporaryFile(dir=self._folder) as output:
            self._git.write_blobs((each.digest for each in ordered), output)
            output.seek(0)
            for entry in ordered:
                self._write(entry, _read_blob(output, entry))

    def path_of(self, entry: Entry) -> str:
        """Return where the content of an entry is; that of a link is a link that leads there too."""
        return str(self._folder / (f"{entry.digest}.link" if entry.is_link else entry.digest))

    def read(self, entry: Entry) -> bytes:
        """Return the content of an entry that was retrieved.

        Raises:
            ChangeError: It is not the one that was kept.
        """
        path = self.path_of(entry)
        try:
            link = os.fsencode(os.readlink(path)) if entry.is_link else None
            content = Path(path).read_bytes() if link is None else link
        except OSError as error:
            raise ChangeError(f"a kept version cannot be read: {error}") from error
        if hash_blob(content) != entry.digest:
            raise ChangeError(f"the kept version `{path}` is damaged")
        return content

    def _write(self, entry: Entry, content: bytes) -> None:
        path = self.path_of(entry)
        if entry.is_link:
            os.symlink(os.fsdecode(content), path)
            return
        with NamedTemporaryFile(dir=self._folder, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)


def _read_blob(output: IO[bytes], entry: Entry) -> bytes:
    head = output.readline().split()
    if len(head) != 3 or head[1] != b"blob":
        raise ChangeError(f"the store has lost the version `{entry.digest}`")
    return output.read(int(head[2]) + 1)[:-1]
