"""What one session and its sub-agents have changed, so that it can be taken back."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock

from .change import Change, ChangedPath, ChangeError, find_changes_support
from .open_change import Call, OpenChange
from .place import choose_folder, note_place
from .recorded_change import Level, RecordedChange, read_changes
from .session_lock import SessionLock
from .tracked import TrackedTree
from .tracked_change import OpenTracked, TrackedChange
from .undone import Collected, Undone


class SessionChanges:
    """The changes of one session; safe to use from several threads.

    Nothing is on the disk before the first change.
    """

    def __init__(
        self, folder: Path, session_id: str, find_event: Callable[[], int | None] = lambda: None
    ) -> None:
        """Describe them.

        Args:
            folder: Where the changes of all sessions of this user are noted.
            session_id: The session.
            find_event: Returns the number of the last event of the session, if it is stored.
        """
        self._folder = folder
        self._session_id = session_id
        self._notes = folder / session_id
        self._find_event = find_event
        self._guard = RLock()
        self._lock = SessionLock(self._notes)
        self._known: list[RecordedChange] | None = None
        self._is_new_turn = True
        self._runs_turn = False
        self._trees: dict[str, TrackedTree] = {}
        self._open = 0
        """How many changes are being made."""

    @property
    def notes(self) -> Path:
        """The folder of this session."""
        return self._notes

    def list_changes(self) -> Sequence[RecordedChange]:
        """Return the changes that were made to their end, in their order.

        What a crash interrupted is finished or taken back before.

        Raises:
            ChangesInUseError: Another process has them.
            ChangeError, ValueError: What is on the disk is damaged.
        """
        with self._guard:
            if not self._notes.is_dir():
                return ()
            try:
                return tuple(each for each in self._load() if each.is_done)
            finally:
                self._release()

    def list_paths(self) -> list[ChangedPath]:
        """Return what was changed and not taken back, in the order in which it was; as above."""
        with self._guard:
            done = [each for each in self.list_changes() if not each.is_undone]
            opened = map(self._open_kept, done)
            return [path for each in opened for path in each.list_paths()]

    def begin_turn(self) -> None:
        """Count what is changed from now on as another turn."""
        with self._guard:
            self._is_new_turn = self._runs_turn = True

    def end_turn(self) -> None:
        """Let others take changes back."""
        with self._guard:
            self._runs_turn = False
            self._release()

    def find_folder(self, project: str) -> Path | None:
        """Return the folder that exact changes of a project are kept in; None if there is none."""
        if not find_changes_support():
            return None
        return choose_folder(Path(project), self._folder)

    def find_ignored(self, project: str, paths: Sequence[str]) -> set[str]:
        """Return those of some paths of a project that git ignores.

        Raises:
            ChangeError: Git is not installed, or fails.
        """
        return self._open_tree(project).find_ignored(paths)

    def begin(self, project: str, call: Call) -> OpenChange | None:
        """Return a new change of a project; None if it cannot be kept.

        Args:
            project: The folder that is changed, links followed.
            call: What changes it.

        Raises:
            ChangesInUseError: Another process has the changes of this session.
            OSError: The disk refuses it.
        """
        with self._guard:
            kept_in = self.find_folder(project)
            if kept_in is None:
                return None
            try:
                return self._begin(project, call, kept_in)
            finally:
                self._release()

    def begin_tracked(self, project: str, call: Call) -> OpenTracked:
        """Return a new change of a project that is not made in a layer; as `begin`.

        Raises:
            ChangesInUseError: As for `begin`.
            ChangeError: The state of the project cannot be taken.
        """
        with self._guard:
            try:
                recorded = self._note(project, call, level="tracked")
                self._open += 1
            finally:
                self._release()
        try:
            tree = self._open_tree(project)
            return OpenTracked(tree, partial(self._end_tracked, recorded))
        except BaseException:
            self._end(recorded, is_kept=False)
            raise

    def list_last_turn(self) -> Sequence[RecordedChange]:
        """Return the changes of the last turn that changed something and was not taken back."""
        done = [each for each in self.list_changes() if not each.is_undone]
        return [each for each in done if each.turn == done[-1].turn]

    def list_undone_turn(self) -> Sequence[RecordedChange]:
        """Return the changes that are made again first: of the turn that was taken back last.

        There is none once something else was changed.
        """
        undone: list[RecordedChange] = []
        for each in reversed(self.list_changes()):
            if not each.is_undone:
                break
            undone.insert(0, each)
        return [each for each in undone if each.turn == undone[0].turn]

    def undo(self, changes: Iterable[RecordedChange], *, preview: bool = False) -> Undone:
        """Take changes back, the last one first.

        Args:
            changes: Of this session.
            preview: Whether to look only.

        Raises:
            ChangesInUseError: Another process makes changes.
        """
        newest_first = sorted(changes, key=lambda each: -each.number)
        return self._swap(newest_first, is_undo=True, preview=preview)

    def redo(self, changes: Iterable[RecordedChange], *, preview: bool = False) -> Undone:
        """Make changes again that were taken back, the first one first; as `undo`."""
        oldest_first = sorted(changes, key=lambda each: each.number)
        return self._swap(oldest_first, is_undo=False, preview=preview)

    def close(self, *, keep: bool) -> None:
        """Leave them to others, or remove all that is kept; what is in the project stays."""
        with self._guard:
            if not keep and self._notes.is_dir():
                for each in tuple(self._load()):
                    self._drop(each)
                shutil.rmtree(self._notes, ignore_errors=True)
            self._release()

    def _swap(self, ordered: list[RecordedChange], *, is_undo: bool, preview: bool) -> Undone:
        collected = Collected(is_undo=is_undo, is_preview=preview)
        with self._guard:
            changes = self._load()
            try:
                for recorded in ordered:
                    try:
                        change = self._open_kept(recorded)
                        change.recover()
                        swap = change.undo if is_undo else change.redo
                        if change.state != ("undone" if is_undo else "committed"):
                            collected.add(swap(preview=preview), change.list_paths())
                    except ChangeError as error:
                        collected.add_missing(str(error))
                        continue
                    if not preview:
                        marked = recorded.mark(self._notes, is_undone=is_undo)
                        changes[changes.index(recorded)] = marked
            finally:
                self._release()
        return collected.finish()

    def _begin(self, project: str, call: Call, kept_in: Path) -> OpenChange:
        recorded = self._note(project, call, kept_in=kept_in)
        try:
            change = Change.begin(recorded.project, recorded.folder)
        except BaseException:
            self._drop(recorded)
            raise
        self._open += 1
        return OpenChange(change, partial(self._end, recorded))

    def _note(
        self, project: str, call: Call, *, kept_in: Path | None = None, level: Level = "exact"
    ) -> RecordedChange:
        """Note a change that is about to be made."""
        changes = self._load()
        number = changes[-1].number + 1 if changes else 1
        turn = changes[-1].turn if changes else 0
        name = f"{number:06}"
        folder = self._notes / name
        if kept_in is not None and kept_in != self._folder:
            note_place(self._folder, kept_in)
            folder = kept_in / f"{self._session_id}-{name}"
        recorded = RecordedChange(
            number=number,
            turn=turn + 1 if self._is_new_turn else turn,
            tool=call.tool,
            call_id=call.id,
            session_id=call.session_id or self._session_id,
            project=project,
            folder=str(folder),
            level=level,
            event=self._find_event(),
        )
        self._is_new_turn = False
        recorded.save(self._notes)
        changes.append(recorded)
        return recorded

    def _open_kept(self, recorded: RecordedChange) -> Change | TrackedChange:
        if recorded.trees is None:
            return Change(recorded.project, recorded.folder)
        return TrackedChange(self._open_tree(recorded.project), recorded, recorded.trees)

    def _open_tree(self, project: str) -> TrackedTree:
        """Return the states of a project; opened once, as it remembers what it has read."""
        if project not in self._trees:
            digest = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
            self._trees[project] = TrackedTree(project, str(self._notes / f"tracked-{digest}"))
        return self._trees[project]

    def _end_tracked(self, recorded: RecordedChange, trees: tuple[str, str] | None) -> None:
        with self._guard:
            if trees is not None:
                changes = self._load()
                tracked = replace(recorded, trees=trees)
                changes[changes.index(recorded)] = recorded = tracked
            self._end(recorded, is_kept=trees is not None)

    def _end(self, recorded: RecordedChange, *, is_kept: bool) -> None:
        with self._guard:
            self._open -= 1
            self._finish(recorded, is_kept=is_kept)
            self._release()

    def _release(self) -> None:
        """Let others take changes back, unless some are made or a turn runs."""
        if not self._runs_turn and not self._open:
            self._lock.release()

    def _load(self) -> list[RecordedChange]:
        """Take the lock, and return what is noted: another process may have changed it meanwhile."""
        if self._known is not None and self._lock.is_held:
            return self._known
        self._notes.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock.acquire()
        self._known = read_changes(self._notes)
        for recorded in [each for each in self._known if not each.is_done]:
            self._recover(recorded)
        return self._known

    def _recover(self, recorded: RecordedChange) -> None:
        """Finish or take back what a crash interrupted."""
        try:
            change = self._open_kept(recorded)
            change.recover()
            is_kept = change.state != "open"
        except ChangeError:  # it was not even begun
            is_kept = False
        self._finish(recorded, is_kept=is_kept)

    def _finish(self, recorded: RecordedChange, *, is_kept: bool) -> None:
        if not is_kept:
            self._drop(recorded)
            return
        changes = self._load()
        changes[changes.index(recorded)] = done = replace(recorded, is_done=True)
        done.save(self._notes)

    def _drop(self, recorded: RecordedChange) -> None:
        if recorded.level == "exact" and Path(recorded.folder).exists():
            Change(recorded.project, recorded.folder).remove()
        recorded.remove(self._notes)
        self._load().remove(recorded)
