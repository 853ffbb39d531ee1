"""What of the results of a session is too long for the model, kept where it can be read in parts."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from weakref import finalize

from amplifier_modules.tools.result_bytes import whole_characters

PREFIX = "put-aside:"
"""How the address of such a text begins."""
MAX_BYTES = 256 * 2**20
"""Bytes of a session, at most."""


class PutAside:
    """A folder of files that nobody else may read; it is removed at the session's end."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._folder: Path | None = None
        self._remove: Callable[[], object] = _do_nothing
        self._numbers = itertools.count(1)
        self._files: dict[str, Path] = {}
        self._size = 0

    def keep(self, text: str) -> str:
        """Keep a text; return its address.

        Raises:
            OSError: It cannot be kept, or too much is kept already.
        """
        content = text.encode("utf-8", "replace")
        if self._size + len(content) > MAX_BYTES:
            raise OSError(f"{MAX_BYTES // 2**20} MiB are put aside already")
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="amplifier-mcp-"))
            self._remove = finalize(self, shutil.rmtree, str(self._folder), ignore_errors=True)
        number = next(self._numbers)
        path = self._folder / f"{number}.txt"
        path.write_bytes(content)
        self._size += len(content)
        self._files[f"{PREFIX}{number}"] = path
        return f"{PREFIX}{number}"

    def read(self, address: str, offset: int, limit: int) -> tuple[str, int, int]:
        """Return a part of a text, where it ends, and how long the whole is, in bytes.

        Raises:
            LookupError: Nothing is put aside at this address.
            OSError: The file cannot be read.
        """
        path = self._files.get(address)
        if path is None:
            raise LookupError(f"nothing is put aside as `{address}`")
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(min(offset, size))
            content = file.read(limit)
        shown = whole_characters(content) if offset + len(content) < size else content
        return shown.decode("utf-8", "replace"), min(offset, size) + len(shown), size

    def close(self) -> None:
        """Remove all of it."""
        self._remove()


def _do_nothing() -> None:
    """Remove nothing, where nothing is kept."""
