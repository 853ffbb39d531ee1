"""What is noted of the changes of one session, in a folder of its own."""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from .recorded_change import RecordedChange, Removal, read_changes
from .session_lock import ChangesInUseError, SessionLock

logger = logging.getLogger(__name__)

_MARKER = "unstored"


class SessionNotes:
    """The notes of a session: read and written by the one that has its lock."""

    def __init__(self, folder: Path) -> None:
        """Describe the notes in a folder, which is named by the session."""
        self.folder = folder
        self._lock = SessionLock(folder)
        self._marker = SessionLock(folder, f"{_MARKER}.new")
        self._known: list[RecordedChange] = []
        self._mark = b"", 0
        """What the lock said of the notes that are known, and the process that knows them."""
        self._has_written = False

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock."""
        return self._lock.is_held

    def load(self) -> list[RecordedChange]:
        """Take the lock, and return the changes in their order.

        They are read if somebody may have changed them since this object had the lock.

        Raises:
            ChangesInUseError: Somebody else has the lock.
            OSError: The folder is not there, or cannot be used.
        """
        if not self._lock.is_held:
            self._lock.take()
            self._has_written = False
            try:
                self._read_again()
            except BaseException:
                self.release()
                raise
        return self._known

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def find(self, number: int) -> RecordedChange | None:
        """Return a change by its number."""
        return next((each for each in self.load() if each.number == number), None)

    def add(self, recorded: RecordedChange) -> None:
        """Note one more change."""
        changes = self.load()
        self._begin_writing()
        recorded.save_note(self.folder)
        changes.append(recorded)

    def replace(self, recorded: RecordedChange) -> RecordedChange:
        """Note a change anew; it counts for this process also where the disk refuses it."""
        changes = self.load()
        for index, each in enumerate(changes):
            if each.number == recorded.number:
                changes[index] = recorded
                self._begin_writing()
                recorded.save_note(self.folder)
        return recorded

    def has_note(self, number: int) -> bool:
        """Whether the note of a change is on the disk, in whatever state."""
        return (self.folder / f"{number:06}.json").exists()

    def remove_versions(self, recorded: RecordedChange, reason: Removal) -> None:
        """Remove what is kept of a change, and note that."""
        # First the note: what a crash leaves of the versions is removed when the notes are read.
        self.replace(replace(recorded, size=0, removed=reason))
        _remove_versions(recorded)

    def forget(self, recorded: RecordedChange) -> None:
        """Remove a change, and its note."""
        changes = self.load()
        self._begin_writing()
        _remove_versions(recorded)
        recorded.remove(self.folder)
        self._known = [each for each in changes if each.number != recorded.number]

    def remove_all(self) -> None:
        """Remove the folder with all changes, and give the lock back."""
        for each in self.load():
            _remove_versions(each)
            each.remove(self.folder)
        for path in self.folder.iterdir():
            if path.name not in (_MARKER, "lock"):
                _remove(path)
        # Last: if this is interrupted, the next one goes on.
        shutil.rmtree(self.folder, ignore_errors=True)
        self._known, self._mark = [], (b"", 0)
        self.close()

    def mark_unstored(self) -> None:
        """Mark the session as one that ends with this process, for as long as that lives."""
        if self._marker.is_held:
            return
        if (self.folder / _MARKER).exists():
            with suppress(ChangesInUseError):
                self.claim_unstored()
            return
        # Locked before it has its name: nobody finds it without its owner.
        self._marker.take()
        (self.folder / f"{_MARKER}.new").replace(self.folder / _MARKER)

    def mark_stored(self) -> None:
        """Let the changes outlive this process."""
        if (self.folder / _MARKER).exists():
            (self.folder / _MARKER).unlink(missing_ok=True)
        self._marker.release()

    def claim_unstored(self) -> bool:
        """Return whether the session is marked as unstored; its mark is this object's then.

        Raises:
            ChangesInUseError: Its process lives.
        """
        if not (self.folder / _MARKER).exists():
            return False
        marker = SessionLock(self.folder, _MARKER)
        marker.take()
        self._marker = marker
        return True

    def close(self) -> None:
        """Give back all locks."""
        self._lock.release()
        self._marker.release()

    def _read_again(self) -> None:
        mark = self._lock.read_mark(), os.getpid()
        if mark[0] and mark == self._mark:
            return
        self._known, self._mark = read_changes(self.folder), mark
        for each in self._known:
            if each.removed in ("space", "ignored") and os.path.lexists(each.folder):
                _remove_versions(each)

    def _begin_writing(self) -> None:
        """Have others read the notes again, also if this process is killed in the middle."""
        if not self._has_written:
            self._mark = self._lock.write_mark(), os.getpid()
            self._has_written = True


def _remove_versions(recorded: RecordedChange) -> None:
    try:
        recorded.remove_versions()
    except OSError as error:
        logger.warning("a change that nobody needs any more cannot be removed: %s", error)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
