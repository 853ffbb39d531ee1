"""What was read of the files of a store, so that only those that have changed are read again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from ..store import SessionInfo

_NAME = "list.json"
_FIELDS = tuple(field.name for field in fields(SessionInfo))
_FORM = 1
"""The form of the file; another one is not read."""


class FileFacts(NamedTuple):
    """A file, and what changes whenever SQLite writes to it."""

    name: str
    stamps: tuple[int, ...]
    """Size and time of the last change, in nanoseconds, of the file and of its write-ahead log."""


def list_files(folder: Path, ending: str) -> Iterator[FileFacts]:
    """Yield the files of a folder that have this ending."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        found = {entry.name: entry for entry in entries}
        for name, entry in found.items():
            if name.endswith(ending):
                log = found.get(f"{name}-wal")
                with suppress(FileNotFoundError):
                    yield FileFacts(
                        name, (*_read_stamps(entry), *(_read_stamps(log) if log else ()))
                    )


class Listing:
    """The sessions of each file as they were when it was read, in a file beside them.

    It is never the truth: what is not in it, or has changed since, is read from the files.
    """

    def __init__(self, folder: Path) -> None:
        """Read the list of this folder, if it has one."""
        self._path = folder / _NAME
        self._known: dict[str, Any] = {}
        self._is_changed = False
        with suppress(OSError, ValueError, TypeError, KeyError):
            read = from_json(self._path.read_bytes())
            if read["form"] == _FORM:
                self._known = read["files"]
        self._found: dict[str, Any] = {}

    def find(self, facts: FileFacts) -> list[SessionInfo] | None:
        """Return the sessions of a file; None if it has changed, or is not known."""
        known = self._known.get(facts.name)
        try:
            if known is None or known[0] != list(facts.stamps):
                return None
            infos = [SessionInfo(**each) for each in known[1]]
        except (TypeError, KeyError, IndexError):
            return None
        self._found[facts.name] = known
        return infos

    def note(self, facts: FileFacts, infos: list[SessionInfo]) -> None:
        """Note the sessions of a file; `facts` are those from before it was read."""
        self._found[facts.name] = [list(facts.stamps), [_describe(each) for each in infos]]
        self._is_changed = True

    def write(self) -> None:
        """Write the list, if it has changed; nothing if that is not possible."""
        if not self._is_changed and len(self._found) == len(self._known):
            return
        new = self._path.with_name(f".{_NAME}.{os.getpid()}")
        with suppress(OSError, ValueError):
            written = to_json({"form": _FORM, "files": self._found})
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            with open(os.open(new, flags, 0o600), "wb") as file:
                file.write(written)
            os.replace(new, self._path)


def _describe(info: SessionInfo) -> dict[str, Any]:
    # `asdict` copies what is in it, which takes longer than all else here.
    return {name: getattr(info, name) for name in _FIELDS}


def _read_stamps(entry: os.DirEntry[str]) -> tuple[int, int]:
    facts = entry.stat(follow_symlinks=False)
    return facts.st_size, facts.st_mtime_ns
