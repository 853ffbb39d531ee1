"""The ends of changes: they are kept, within their space, or forgotten."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .change import ChangedPath, ChangeError
from .change_opener import ChangeOpener
from .ignored_changes import remove_ignored
from .kept_space import KeptSpace, count_bytes, find_place
from .recorded_change import RecordedChange
from .session_notes import SessionNotes

logger = logging.getLogger(__name__)


class Finishing:
    """Notes how the changes of a session end; the session has its lock."""

    def __init__(
        self, folder: Path, notes: SessionNotes, opener: ChangeOpener, space: KeptSpace
    ) -> None:
        """Finish changes.

        Args:
            folder: Where the changes of all sessions are noted.
            notes: Those of the session.
            opener: Opens them.
            space: What they may take.
        """
        self._folder = folder
        self._notes = notes
        self._opener = opener
        self._space = space

    def keep(
        self, recorded: RecordedChange, paths: Iterable[ChangedPath], *, is_command: bool
    ) -> None:
        """Note that a change was made, and remove older ones that are not worth their space.

        Args:
            recorded: The change.
            paths: What it did.
            is_command: Whether a command made it.

        Raises:
            OSError: It cannot be noted, and cannot be taken back.
        """
        size = 0
        if recorded.level == "exact":
            size = count_bytes(recorded.folder, [each for each in paths if each.kind != "created"])
        done = replace(recorded, is_done=True, is_command=is_command, size=size)
        try:
            self._notes.replace(done)
        except OSError:
            # The note from before is enough: whoever reads it asks the change itself.
            if recorded.level != "exact" or not self._notes.has_note(recorded.number):
                raise
        self._limit(done)

    def hold(self, recorded: RecordedChange, layer: str) -> RecordedChange:
        """Note that a change waits for a person, and what it takes of the disk meanwhile.

        Raises:
            OSError: It cannot be noted.
        """
        size = count_bytes(recorded.folder, ())
        held = self._notes.replace(replace(recorded, held=layer, size=size))
        self._space.note_sizes()
        return held

    def end_interrupted(self, recorded: RecordedChange) -> None:
        """End what a process has left in the middle, unless it waits for a person."""
        if recorded.is_waiting and os.path.isdir(recorded.folder):
            try:
                if self._opener.open(recorded).state == "open":
                    return
            except OSError as error:
                logger.warning("a change that waits for a person cannot be read: %s", error)
                return
        self.recover(recorded)

    def recover(self, recorded: RecordedChange) -> bool:
        """Finish or take back what was interrupted; return whether something was changed."""
        if not os.path.isdir(os.path.dirname(recorded.folder)):
            return True  # a disk that is not there now
        try:
            change = self._opener.open(recorded)
        except ChangeError:  # it was not even begun
            self._notes.forget(recorded)
            return False
        try:
            change.recover()
            is_kept = change.state != "open"
            paths = change.list_paths() if is_kept else []
        except OSError as error:
            # Its versions may be needed: they stay until it works.
            logger.warning("a change that was interrupted cannot be finished yet: %s", error)
            return True
        if is_kept:
            self.keep(recorded, paths, is_command=False)
        else:
            self._notes.forget(recorded)
        return is_kept

    def _limit(self, recorded: RecordedChange) -> None:
        place = find_place(recorded, self._notes.folder, self._folder)
        try:
            remove_ignored(self._notes, self._opener)
            self._space.remove_oldest(place)
        except OSError as error:
            logger.warning("kept changes may take more space than they should: %s", error)
