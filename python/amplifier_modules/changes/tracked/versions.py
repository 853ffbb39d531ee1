"""Versions of files as files, taken out of the store when somebody needs them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from amplifier_modules.changes.change import ChangeError

from .entry import Entry, hash_blob
from .private_git import PrivateGit

_MAX_BATCH = 200


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
        ordered = sorted(missing, key=lambda each: each.digest)
        for start in range(0, len(ordered), _MAX_BATCH):
            self._retrieve_batch(ordered[start : start + _MAX_BATCH])

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

    def _retrieve_batch(self, entries: list[Entry]) -> None:
        ids = "".join(f"{each.digest}\n" for each in entries).encode()
        printed = self._git.run("cat-file", "--batch", "--buffer", content=ids)
        position = 0
        for entry in entries:
            end = printed.find(b"\n", position)
            head = printed[position:end].split()
            if len(head) != 3 or head[1] != b"blob":
                raise ChangeError(f"the store has lost the version `{entry.digest}`")
            position = end + 1 + int(head[2])
            self._write(entry, printed[end + 1 : position])
            position += 1

    def _write(self, entry: Entry, content: bytes) -> None:
        path = self.path_of(entry)
        if entry.is_link:
            os.symlink(os.fsdecode(content), path)
            return
        with NamedTemporaryFile(dir=self._folder, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
