"""The store in SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from amplifier_providers.settings import read_settings

from ...running.user_folders import need_state_folder
from ..errors import DamagedSessionError, StoreError, UnknownSessionError
from ..store import (
    Claim,
    Event,
    InboxEntry,
    NewSession,
    SessionInfo,
    StoredEvent,
    is_wanted,
)
from .disk import is_on_local_disk
from .folder import SessionFolder
from .schema import can_use_wal
from .session_file import SessionFile
from .settings import SqliteSettings
from .writer import Writer

ResultT = TypeVar("ResultT")

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = sqlite3.SQLITE_BUSY
_READ_ONLY = sqlite3.SQLITE_READONLY
_STORED, _READ = "stored in", "read from"


class SqliteStore:
    """Sessions in a folder, a file for each with its sub-agents and forks; see `Store`."""

    module = "store-sqlite"

    def __init__(self, config: Mapping[str, Any] | None = None, **settings: Any) -> None:
        """Use a folder; nothing is opened or made yet.

        Args:
            config: The keys of `SqliteSettings`.
            **settings: Keys of `SqliteSettings`, which count before those of `config`.

        Raises:
            SettingError: A value cannot be used.
        """
        given = {**(config or {}), **settings}
        read = read_settings(SqliteSettings, given, self.module)
        self.folder = _default_folder() if read.folder is None else Path(read.folder).expanduser()
        """Where the files are."""
        self.journal_mode = _choose_mode(self.folder, read.journal_mode)
        """How SQLite makes its writes whole: `wal` or `persist`."""
        self._files = SessionFolder(self.folder, self.journal_mode)
        self._writer = Writer("store-sqlite")

    async def claim(
        self,
        session_id: str,
        owner: str,
        *,
        new: NewSession | None = None,
        due: float | None = None,
    ) -> Claim:
        """Become the owner of a session."""

        def claim() -> Claim:
            if new is None:
                with self._files.find(session_id) as file:
                    claimed = file.claim(session_id, owner, due)
            else:
                claimed = self._begin(session_id, owner, new, due)
            self._files.hold(session_id)
            return claimed

        return await self._run(session_id, claim)

    async def append(
        self,
        claim: Claim,
        events: Sequence[Event],
        *,
        done: Sequence[int] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> Claim:
        """Add events."""
        return await self._run_on_file(
            claim.session_id, lambda file: file.append(claim, events, done, meta)
        )

    async def read(
        self, session_id: str, *, after: int = 0, until: int | None = None
    ) -> list[StoredEvent]:
        """Return the events of a session."""
        return await self._run_on_file(
            session_id, lambda file: file.read(session_id, after, until), _READ
        )

    async def fork(
        self,
        session_id: str,
        new_id: str,
        *,
        at: int | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> SessionInfo:
        """Make a fork."""

        def fork(file: SessionFile) -> SessionInfo:
            self._files.link(session_id, new_id)
            return file.fork(session_id, new_id, at, meta)

        return await self._run_on_file(session_id, fork)

    async def put(self, session_id: str, kind: str, body: Any, *, due: float | None = None) -> int:
        """Add an entry to the inbox."""
        return await self._run_on_file(
            session_id, lambda file: file.put(session_id, kind, body, due)
        )

    async def inbox(self, session_id: str) -> list[InboxEntry]:
        """Return the entries that are not done."""
        return await self._run_on_file(session_id, lambda file: file.inbox(session_id), _READ)

    async def sessions(self) -> list[SessionInfo]:
        """Return all sessions."""
        return await self._run("", lambda: self._files.list_sessions(), _READ)

    async def take(
        self,
        owner: str,
        *,
        now: float,
        due: float | None,
        agents: Collection[str] | None = None,
        accepts: Callable[[SessionInfo], bool] | None = None,
    ) -> Claim | None:
        """Claim the session that is due the longest."""

        def accept(info: SessionInfo) -> bool:
            return is_wanted(info, agents, accepts)

        def take() -> Claim | None:
            waiting = [
                (info.due, info.id)
                for info in self._files.list_sessions()
                if info.due is not None and info.due <= now and accept(info)
            ]
            for _, id in sorted(waiting):
                with suppress(UnknownSessionError), self._files.find(id) as file:
                    claim = file.take(id, owner, now, due, accept)
                    if claim is not None:
                        self._files.hold(id)
                        return claim
            return None

        return await self._run("", take)

    async def renew(self, claim: Claim, *, due: float | None) -> None:
        """Set when the session may be taken."""
        await self._run_on_file(claim.session_id, lambda file: file.renew(claim, due))

    async def end(self, claim: Claim, *, due: float | None = None) -> None:
        """Give the session back."""

        def end() -> None:
            self._files.release(claim.session_id)
            with self._files.find(claim.session_id) as file:
                file.end(claim, due)

        await self._run(claim.session_id, end)

    async def delete(self, session_id: str) -> None:
        """Remove a session and its sub-agents."""

        def delete() -> None:
            with self._files.find(session_id) as file:
                deleted, is_empty = file.delete(session_id)
            if is_empty:
                self._files.remove(session_id)
            for id in deleted:
                self._files.remove_link(id)

        await self._run(session_id, delete)

    async def verify(self, session_id: str) -> list[str]:
        """Return what is wrong with a session and its file; nothing if all is whole.

        Raises:
            UnknownSessionError: It is not stored.
        """

        def verify(file: SessionFile) -> list[str]:
            problems = file.list_problems()
            try:
                file.read(session_id, 0, None)
                file.inbox(session_id)
            except DamagedSessionError as error:
                problems.append(str(error))
            return problems

        return await self._run_on_file(session_id, verify, _READ)

    async def close(self) -> None:
        """Close the files, and end the thread."""
        await self._writer.run(self._files.close)
        self._writer.stop()

    def _begin(self, session_id: str, owner: str, new: NewSession, due: float | None) -> Claim:
        """Add a session: to a file of its own, or to that of its parent."""
        if new.parent is None:
            return self._files.make(
                session_id, lambda file: file.begin(session_id, owner, new, due)
            )
        with self._files.find(new.parent) as file:
            self._files.link(new.parent, session_id)
            return file.begin(session_id, owner, new, due)

    async def _run_on_file(
        self, session_id: str, work: Callable[[SessionFile], ResultT], action: str = _STORED
    ) -> ResultT:
        def work_on_file() -> ResultT:
            with self._files.find(session_id) as file:
                return work(file)

        return await self._run(session_id, work_on_file, action)

    async def _run(
        self, session_id: str, work: Callable[[], ResultT], action: str = _STORED
    ) -> ResultT:
        try:
            return await self._writer.run(work)
        except UnicodeDecodeError as error:
            raise DamagedSessionError(
                session_id, 0, f"a text in its file is none: {error}"
            ) from error
        except sqlite3.Error as error:
            raise self._describe(session_id, error, action) from error
        except OSError as error:
            raise StoreError(f"the store in `{self.folder}` cannot be used: {error}") from error

    def _describe(self, session_id: str, error: sqlite3.Error, action: str) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGED and session_id:
            return DamagedSessionError(session_id, 0, str(error))
        what = f"session `{session_id}`" if session_id else "the sessions"
        if code == _BUSY:
            return StoreError(f"{what} cannot be stored: another process writes to its file")
        if code == _READ_ONLY:
            return StoreError(
                f"{what} cannot be stored in `{self.folder}`: the file or the folder is read-only"
            )
        return StoreError(f"{what} cannot be {action} `{self.folder}`: {error}")


def _default_folder() -> Path:
    return need_state_folder(os.environ) / "sessions"


def _choose_mode(folder: Path, wanted: str) -> str:
    if wanted != "auto":
        return wanted
    return "wal" if can_use_wal() and is_on_local_disk(folder) else "persist"
