"""Taking changes back, and making them again."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from .change import ChangeOutcome
from .change_opener import ChangeOpener
from .kept_space import count_bytes
from .recorded_change import RecordedChange
from .session_notes import SessionNotes
from .undone import Collected, Undone

logger = logging.getLogger(__name__)


class Swapping:
    """Takes changes of a session back, or makes them again; the session has its lock."""

    def __init__(
        self, notes: SessionNotes, opener: ChangeOpener, *, is_undo: bool, preview: bool
    ) -> None:
        """Begin.

        Args:
            notes: Those of the session.
            opener: Opens the changes.
            is_undo: Whether changes are taken back.
            preview: Whether to look only.
        """
        self._notes = notes
        self._opener = opener
        self._is_undo = is_undo
        self._is_preview = preview
        self._collected = Collected(is_undo=is_undo, is_preview=preview)

    def swap_changes(self, ordered: Iterable[RecordedChange]) -> Undone:
        """Take changes back in this order, as far as they are kept."""
        for each in ordered:
            recorded = self._notes.find(each.number)
            if recorded is None:
                self._collected.add_removed(replace(each, removed="damaged"))
            elif recorded.removed is not None:
                self._collected.add_removed(recorded)
                self._pass_removed(recorded)
            else:
                self._swap_one(recorded)
        return self._collected.finish()

    def describe_gone(self, ordered: Iterable[RecordedChange]) -> Undone:
        """Return that changes cannot be had, as nothing is noted any more."""
        for each in ordered:
            self._collected.add_removed(replace(each, removed="damaged"))
        return self._collected.finish()

    def _swap_one(self, recorded: RecordedChange) -> None:
        try:
            change = self._opener.open(recorded, self._notes.load())
            change.recover()
            if change.state == ("undone" if self._is_undo else "committed"):
                # A crash came before it was noted: nobody was told of it.
                outcome = ChangeOutcome(change.list_paths(), [], [])
            elif self._is_undo:
                outcome = change.undo(preview=self._is_preview)
            else:
                outcome = change.redo(preview=self._is_preview)
            self._collected.add(recorded, outcome, change.list_paths())
        except OSError as error:
            self._collected.add_missing(recorded, str(error))
            return
        absent = "deleted" if self._is_undo else "created"
        paths = [each for each in outcome.done if each.kind != absent]
        size = count_bytes(recorded.folder, paths) if recorded.level == "exact" else 0
        self._mark_swapped(replace(recorded, size=size))

    def _pass_removed(self, recorded: RecordedChange) -> None:
        """Have the next undo go on with what is kept from before a change that is not."""
        earlier = [each for each in self._notes.load() if each.number < recorded.number]
        if not self._is_undo or any(
            each.removed is None and not each.is_undone for each in earlier
        ):
            self._mark_swapped(recorded)

    def _mark_swapped(self, recorded: RecordedChange) -> None:
        if self._is_preview:
            return
        try:
            self._notes.replace(replace(recorded, is_undone=self._is_undo))
        except OSError as error:
            logger.warning("that a change was taken back or made again is not noted: %s", error)
