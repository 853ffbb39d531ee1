"""The files of a store, and which of them has a session."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from ..errors import (
    DamagedSessionError,
    SessionExistsError,
    StoreError,
    UnknownSessionError,
)
from ..store import SessionInfo
from .listing import FileFacts, Listing, list_files
from .quiet_file import read_quiet_file
from .schema import check_schema, create_file, make_folder, open_file, sync_folder
from .session_file import SessionFile

ResultT = TypeVar("ResultT")

logger = logging.getLogger(__name__)

_ENDING = ".sessions"
_LINK = ".link"
"""The ending of a file that names the one which has the session."""
_MAX_NAME_CHARS = 80
"""A longer name is hashed: file systems take 255 bytes."""
_BESIDE = "-wal", "-shm", "-journal"
"""What SQLite has beside a file."""

_UNREADABLE_ALONE = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
"""What SQLite says where it would have to write to a file to read it."""

_of_parent: list[SessionFile] = []
"""What a process had open when it was forked: to close it there would disturb its parent."""


class SessionFolder:
    """A folder with one file for each session that no other has started; used by one thread."""

    def __init__(self, path: Path, mode: str) -> None:
        """Use the folder, which is made with its first session.

        Args:
            path: Its place.
            mode: How SQLite keeps its journal: `wal` or `persist`.
        """
        self._path = path
        self._mode = mode
        self._open: dict[str, SessionFile] = {}
        """Open files by their names."""
        self._holders: Counter[str] = Counter()
        """How many sessions of a file keep it open, by its name."""
        self._names: dict[str, str] = {}
        """The names of the files by the ids of their sessions, as far as they are known."""
        self._process = os.getpid()

    def make(self, session_id: str, begin: Callable[[SessionFile], ResultT]) -> ResultT:
        """Make a file for a session; return what `begin` returns, which adds the session.

        Raises:
            SessionExistsError: There is a session of this id.
        """
        self._forget_parent()
        make_folder(self._path)
        name = _name_file(session_id)
        if (self._path / name).exists() or self._read_link(session_id) is not None:
            raise SessionExistsError(session_id)
        try:
            begun = create_file(self._path / name, lambda made: begin(SessionFile(made)))
        except FileExistsError:
            raise SessionExistsError(session_id) from None
        self._names[session_id] = name
        return begun

    @contextmanager
    def find(self, session_id: str) -> Generator[SessionFile]:
        """Open the file that has a session.

        Raises:
            UnknownSessionError: No file has it.
        """
        self._forget_parent()
        name = self._names.get(session_id) or self._find_name(session_id)
        if name not in self._open and not (self._path / name).exists():
            self._names.pop(session_id, None)
            raise UnknownSessionError(session_id)
        self._names[session_id] = name
        with self._using(name) as file:
            yield file

    def link(self, session_id: str, new_id: str) -> None:
        """Note that a new session will be in the file of another.

        Raises:
            SessionExistsError: There is a session of this id in a file of its own.
        """
        name, link = self._names[session_id], self._path / _name_file(new_id, _LINK)
        if (
            self._read_link(new_id) not in (None, name)
            or (self._path / _name_file(new_id)).exists()
        ):
            raise SessionExistsError(new_id)
        # It has its name when it is whole: a part of it would keep the id from ever being used.
        new = link.with_name(f".{link.name}.{os.getpid()}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(new, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(name)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, link)
        sync_folder(self._path)
        self._names[new_id] = name

    def hold(self, session_id: str) -> None:
        """Keep the file of a session open until `release`."""
        self._holders[self._names[session_id]] += 1

    def release(self, session_id: str) -> None:
        """Keep it open no longer."""
        name = self._names.get(session_id, "")
        if self._holders[name] > 0:
            self._holders[name] -= 1

    def remove(self, session_id: str) -> None:
        """Remove the file of a session."""
        name = self._names.pop(session_id)
        del self._holders[name]
        self._close_unused(name)
        for ending in _BESIDE:
            (self._path / f"{name}{ending}").unlink(missing_ok=True)
        # A log that outlives its file would be taken for that of the next file of this name.
        sync_folder(self._path)
        (self._path / name).unlink(missing_ok=True)
        sync_folder(self._path)

    def remove_link(self, session_id: str) -> None:
        """Forget where a session was that is in the file of another."""
        self._names.pop(session_id, None)
        link = self._path / _name_file(session_id, _LINK)
        if link.exists():
            link.unlink(missing_ok=True)
            sync_folder(self._path)

    def list_sessions(self) -> list[SessionInfo]:
        """Return the sessions of all files that can be read, those last written to first."""
        found = [info for infos in self._list_by_file().values() for info in infos]
        return sorted(found, key=lambda info: info.written, reverse=True)

    def close(self) -> None:
        """Close all files."""
        self._forget_parent()
        self._holders.clear()
        for name in list(self._open):
            self._close_unused(name)

    def _list_by_file(self) -> dict[FileFacts, list[SessionInfo]]:
        self._forget_parent()
        listing = Listing(self._path)
        found: dict[FileFacts, list[SessionInfo]] = {}
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
            for facts in list_files(self._path, _ENDING):
                infos = listing.find(facts)
                if infos is None:
                    try:
                        infos = self._read_infos(facts.name, memory)
                    except (StoreError, sqlite3.Error) as error:
                        logger.warning("`%s` is left out: %s", self._path / facts.name, error)
                        continue
                    listing.note(facts, infos)
                found[facts] = infos
        listing.write()
        return found

    @contextmanager
    def _using(self, name: str) -> Generator[SessionFile]:
        file = self._open.get(name)
        if file is None:
            file = self._open[name] = SessionFile(open_file(self._path / name, self._mode))
        try:
            yield file
        finally:
            self._close_unused(name)

    def _close_unused(self, name: str) -> None:
        if not self._holders[name] and (file := self._open.pop(name, None)) is not None:
            file.close()

    def _find_name(self, session_id: str) -> str:
        own = _name_file(session_id)
        if (self._path / own).exists():
            return own
        name = self._read_link(session_id)
        if name is None:
            raise UnknownSessionError(session_id)
        return name

    def _read_link(self, session_id: str) -> str | None:
        """Return the name of the file that a session shares; None where it shares none."""
        link = self._path / _name_file(session_id, _LINK)
        try:
            name = link.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        if Path(name).name != name or not name.endswith(_ENDING):
            raise DamagedSessionError(session_id, 0, f"`{link}` names no file of sessions")
        return name

    def _read_infos(self, name: str, memory: sqlite3.Connection) -> list[SessionInfo]:
        if (file := self._open.get(name)) is not None:
            return file.sessions()
        path = self._path / name
        if (content := read_quiet_file(path)) is not None:
            memory.deserialize(content)
            check_schema(memory, path)
            return SessionFile(memory).sessions()
        uri = f"{path.absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
                check_schema(connection, path)
                return SessionFile(connection).sessions()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _UNREADABLE_ALONE:
                raise
        # A process that ended has left a journal, which the next who may write has to use up; or
        # the folder is read-only.
        with self._using(name) as file:
            return file.sessions()

    def _forget_parent(self) -> None:
        if self._process != os.getpid():
            self._process = os.getpid()
            _of_parent.extend(self._open.values())
            self._open.clear()
            self._holders.clear()


def _name_file(session_id: str, ending: str = _ENDING) -> str:
    # An id is a name, not a path.
    name = quote(session_id, safe="", errors="surrogatepass")
    if len(name) > _MAX_NAME_CHARS:
        name = hashlib.sha256(name.encode()).hexdigest()
    return name.replace(".", "%2E") + ending
