"""How much space the changes of all sessions may take: the oldest ones go first."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from .change import ChangedPath
from .recorded_change import RecordedChange
from .session_lock import ChangesInUseError
from .session_notes import SessionNotes

logger = logging.getLogger(__name__)

MAX_BYTES = 2 * 2**30
MAX_SHARE_OF_FREE = 0.1
_MAX_COUNTED = 10_000
"""Files of a change that are looked at for its size."""
_BLOCK_BYTES = 512
_SIZES = "sizes.json"
_SIZES_TYPE = TypeAdapter(dict[str, int])


def count_bytes(folder: str, paths: Iterable[ChangedPath]) -> int:
    """Return what a change takes of the disk.

    Args:
        folder: Where it is kept.
        paths: What it changed that has a version there. Their sizes count if there are too many
            files to look at.
    """
    total = count = 0
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > _MAX_COUNTED:
                        return max(total, sum(each.size for each in paths))
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:  # closed, too deep, or gone
            continue
    return total


def find_limit(folder: str) -> int:
    """Return the bytes that changes may take in a folder.

    Raises:
        OSError: It is not there.
    """
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    return min(MAX_BYTES, int(free * MAX_SHARE_OF_FREE))


class KeptSpace:
    """Keeps the changes of a user within their space, for one session that makes some.

    Each session notes what its changes take, so that nobody has to look at those of others unless
    all of them together take too much.
    """

    def __init__(self, folder: Path, notes: SessionNotes) -> None:
        """Describe it.

        Args:
            folder: Where the changes of all sessions of this user are noted.
            notes: Those of the session.
        """
        self._folder = folder
        self._notes = notes
        self._others: dict[str, int] | None = None

    def begin_turn(self) -> None:
        """Look again what others take."""
        self._others = None

    def note_sizes(self) -> None:
        """Note what the changes of the session take, for others."""
        _note_sizes(self._notes, self._folder)

    def remove_oldest(self, place: str) -> None:
        """Remove changes until those in one place are within their space; the session has its lock.

        First the oldest ones of this session, if it takes too much alone; then those of others that
        nobody makes changes in, beginning with the session that was used least lately; if that is
        not enough, more of this one, but not its last.

        Args:
            place: The folder that changes are kept in, of all sessions or beside a project.
        """
        limit = find_limit(place) - self._count_waiting(place)
        own = list_kept(self._notes, self._folder, place)
        size = sum(each.size for each in own)
        size = _remove_until(self._notes, own, size, limit)
        self.note_sizes()
        if self._others is None:
            self._others = self._count_others()
        if size + self._others.get(place, 0) <= limit:
            return
        others = self._remove_of_others(place, limit - size)
        own = list_kept(self._notes, self._folder, place)
        _remove_until(self._notes, own[:-1], size + others, limit)
        self.note_sizes()

    def _count_waiting(self, place: str) -> int:
        """Return what those of the session take that wait for a person, and cannot be removed."""
        names = str(self._notes.folder), str(self._folder)
        waiting = [each for each in self._notes.load() if each.is_waiting]
        return sum(each.size for each in waiting if _find_place(each, *names) == place)

    def _count_others(self) -> dict[str, int]:
        """Return what the changes of all other sessions take, by their places."""
        total: dict[str, int] = {}
        for folder in self._list_others():
            for place, size in _read_sizes(folder).items():
                total[place] = total.get(place, 0) + size
        return total

    def _remove_of_others(self, place: str, limit: int) -> int:
        """Remove changes of others until they are within a limit; return what they take then."""
        self._others = self._count_others()
        size = self._others.get(place, 0)
        for folder in sorted(self._list_others(), key=_find_last_use):
            if size <= limit:
                break
            if place not in _read_sizes(folder):
                continue
            notes = SessionNotes(folder)
            try:
                last_use = _find_last_use(folder)
                kept = list_kept(notes, self._folder, place)
                size = _remove_until(notes, kept, size, limit)
                _note_sizes(notes, self._folder)
                os.utime(folder / _SIZES, ns=(last_use, last_use))  # this was no use of it
            except (ChangesInUseError, OSError) as error:
                logger.debug("changes of another session are left alone: %s", error)
            finally:
                notes.close()
        self._others[place] = size
        return size

    def _list_others(self) -> Iterator[Path]:
        with os.scandir(self._folder) as entries:
            for entry in entries:
                path = Path(entry.path)
                if path != self._notes.folder and entry.is_dir(follow_symlinks=False):
                    yield path


def find_place(recorded: RecordedChange, notes: Path, folder: Path) -> str:
    """Return the place that a change is kept in, among those of all sessions.

    Args:
        recorded: The change.
        notes: The folder of its session.
        folder: Where the changes of all sessions are noted.
    """
    return _find_place(recorded, str(notes), str(folder))


def _find_place(recorded: RecordedChange, notes: str, folder: str) -> str:
    parent = os.path.dirname(recorded.folder)
    return folder if parent == notes else parent


def list_kept(notes: SessionNotes, folder: Path, place: str) -> list[RecordedChange]:
    """Return the changes of a session that are kept in a place, in their order."""
    names = str(notes.folder), str(folder)
    return [
        each
        for each in notes.load()
        if each.is_done and each.removed is None and _find_place(each, *names) == place
    ]


def _remove_until(
    notes: SessionNotes, ordered: Iterable[RecordedChange], size: int, limit: int
) -> int:
    """Remove changes until a size is within a limit; return the size then."""
    for each in ordered:
        if size <= limit:
            break
        notes.remove_versions(each, "space")
        size -= each.size
    return size


def _note_sizes(notes: SessionNotes, folder: Path) -> None:
    sizes: dict[str, int] = {}
    names = str(notes.folder), str(folder)
    for each in notes.load():
        if (each.is_done or each.is_waiting) and each.size:
            place = _find_place(each, *names)
            sizes[place] = sizes.get(place, 0) + each.size
    new = notes.folder / f"{_SIZES}.new"
    new.write_bytes(_SIZES_TYPE.dump_json(sizes))
    new.replace(notes.folder / _SIZES)


def _read_sizes(folder: Path) -> dict[str, int]:
    try:
        return _SIZES_TYPE.validate_json((folder / _SIZES).read_bytes())
    except (OSError, ValidationError):
        return {}


def _find_last_use(folder: Path) -> int:
    try:
        return (folder / _SIZES).stat().st_mtime_ns
    except OSError:
        return 0
