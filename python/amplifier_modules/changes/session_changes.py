"""What one session and its sub-agents have changed, so that it can be taken back."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from .change import Change, ChangedPath, ChangeError, ChangeOutcome, find_changes_support
from .change_opener import ChangeOpener
from .finishing import Finishing
from .kept_space import KeptSpace
from .leftovers import note_owner, remove_left_changes, remove_left_sessions
from .open_change import Call, HeldChangeError, OpenChange
from .place import choose_folder, note_place
from .recorded_change import Level, RecordedChange
from .rewind_point import NamedChange, name_change
from .session_lock import ChangesInUseError
from .session_notes import SessionNotes
from .shown_hash import hash_layer
from .swapping import Swapping
from .tracked_change import OpenTracked
from .undone import Undone

if TYPE_CHECKING:
    from amplifier_modules.stores.stored_turns import StoredTurns


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
        self._notes = SessionNotes(folder / session_id)
        self._opener = ChangeOpener(self._notes.folder)
        self._space = KeptSpace(folder, self._notes)
        self._finishing = Finishing(folder, self._notes, self._opener, self._space)
        self._find_event = find_event
        self._guard = RLock()
        self._is_new_turn = True
        self._runs_turn = False
        self._open = 0
        """How many changes are being made."""
        self._process = os.getpid()
        self._is_fork = False
        self._cleaned: set[Path] = set()
        """The places in which nothing is left of processes that were killed."""

    def is_touched(self) -> bool:
        """Whether anything of this session is on the disk."""
        return self._notes.folder.is_dir()

    def list_changes(self) -> Sequence[RecordedChange]:
        """Return the changes that were made to their end, in their order.

        What a crash interrupted is finished or taken back before. Those that are not kept any more
        are among them.

        Raises:
            ChangesInUseError: Another process has them.
            OSError: The disk refuses it.
        """
        with self._guard:
            if not self._notes.folder.is_dir():
                return ()
            try:
                return tuple(each for each in self._load() if each.is_done)
            finally:
                self._release()

    def list_paths(self) -> list[ChangedPath]:
        """Return what was changed and not taken back, in the order in which it was; as above."""
        with self._guard:
            done = [each for each in self.list_changes() if not each.is_undone]
            opened = [self._opener.open(each) for each in done if each.removed is None]
            return [path for each in opened for path in each.list_paths()]

    def list_named(self, turns: StoredTurns | None) -> list[NamedChange]:
        """Return what was changed and not taken back, with what each is named by; as above.

        Args:
            turns: The turns of the session; None if it is not stored.
        """
        with self._guard:
            named: list[NamedChange] = []
            for each in self.list_changes():
                if not each.is_undone:
                    listed = [] if each.removed else self._opener.open(each).list_paths()
                    paths = [path.path for path in listed]
                    named.append(name_change(each, paths, turns, self._session_id))
            return named

    def begin_turn(self, held: Collection[str] | None = ()) -> None:
        """Count what is changed from now on as another turn.

        Args:
            held: The hashes of the layers that a person is still asked about; others are removed.
                None for all that are held.
        """
        with self._guard:
            self._is_new_turn = self._runs_turn = True
            self._space.begin_turn()
            if held is not None and self._notes.folder.is_dir():
                with suppress(ChangesInUseError, OSError):  # looked for again in the next turn
                    self._forget_waiting(held)

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

    def find_ignored(self, project: str, paths: Sequence[str]) -> Collection[str]:
        """Return those of some paths of a project that git ignores.

        Raises:
            ChangeError: Git is not installed, or fails.
        """
        return self._opener.find_ignored(project, paths)

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

    def open_held(self, project: str, call: Call, layer: str) -> OpenChange | None:
        """Return a change that is held, to be ended here; None if it was committed already.

        Args:
            project: The folder that it changes, links followed.
            call: What made it.
            layer: The hash of its layer, as it was shown.

        Raises:
            HeldChangeError: It is not there, or is not what was shown; then it is removed.
            OSError: As for `begin`.
        """
        with self._guard:
            try:
                found = self._find_held(project, call, layer)
                if found.is_done:
                    return None
                change = Change(found.project, found.folder)
                if not _is_as_shown(change, layer):
                    self._notes.forget(found)
                    raise HeldChangeError("it was changed since a person was asked about it")
                self._open += 1
                return OpenChange(change, _End(self, found))
            finally:
                self._release()

    def _find_held(self, project: str, call: Call, layer: str) -> RecordedChange:
        made = self._load() if self._notes.folder.is_dir() else []
        for each in reversed(made):
            is_it = each.held == layer and each.call_id == call.id and each.project == project
            if is_it and each.removed is None:
                return each
        raise HeldChangeError("it is not there any more")

    def _forget_waiting(self, held: Collection[str]) -> None:
        was_locked = self._notes.is_held
        try:
            for each in [each for each in self._load() if each.is_waiting]:
                if each.held not in held:
                    self._notes.forget(each)
        finally:
            # A turn has the lock from its first change on.
            if not was_locked:
                self._notes.release()

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
            tree = self._opener.open_tree(project)
            return OpenTracked(tree, partial(self._end_tracked, recorded))
        except BaseException:
            self._end_tracked(recorded, None)
            raise

    def list_last_turn(self) -> Sequence[RecordedChange]:
        """Return the changes of the last turn that changed something and was not taken back.

        Where nothing of it is kept any more, those of the turns before of which nothing is kept
        either are among them.
        """
        done = [each for each in self.list_changes() if not each.is_undone]
        kept = [each.turn for each in done if each.removed is None]
        last = done[-1].turn if done else 0
        reach = kept[-1] if kept else 0
        return [each for each in done if each.turn == last or each.turn > reach]

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
        return self._swap_changes(newest_first, is_undo=True, preview=preview)

    def redo(self, changes: Iterable[RecordedChange], *, preview: bool = False) -> Undone:
        """Make changes again that were taken back, the first one first; as `undo`."""
        oldest_first = sorted(changes, key=lambda each: each.number)
        return self._swap_changes(oldest_first, is_undo=False, preview=preview)

    def close(self, *, keep: bool) -> None:
        """Leave them to others, or remove all that is kept; what is in the project stays.

        Raises:
            ChangesInUseError: Another process has them.
            OSError: The disk refuses it.
        """
        with self._guard:
            is_ours = self._process == os.getpid()  # not those of the process that was forked
            try:
                if is_ours and self._notes.folder.is_dir():
                    if keep:
                        self._notes.mark_stored()
                    else:
                        self._notes.remove_all()
            finally:
                self._notes.close()

    def _swap_changes(
        self, ordered: list[RecordedChange], *, is_undo: bool, preview: bool
    ) -> Undone:
        swapping = Swapping(self._notes, self._opener, is_undo=is_undo, preview=preview)
        with self._guard:
            if not ordered or not self._notes.folder.is_dir():
                return swapping.describe_gone(ordered)
            try:
                self._load()
                undone = swapping.swap_changes(ordered)
                if not preview:
                    with suppress(OSError):
                        self._space.note_sizes()
                return undone
            finally:
                self._release()

    def _begin(self, project: str, call: Call, kept_in: Path) -> OpenChange:
        recorded = self._note(project, call, kept_in=kept_in)
        try:
            change = Change.begin(recorded.project, recorded.folder)
            if kept_in != self._folder:
                note_owner(recorded, self._notes.folder)
        except BaseException:
            with suppress(OSError):
                self._notes.forget(recorded)
            raise
        self._open += 1
        return OpenChange(change, _End(self, recorded))

    def _note(
        self, project: str, call: Call, *, kept_in: Path | None = None, level: Level = "exact"
    ) -> RecordedChange:
        """Note a change that is about to be made."""
        changes = self._load()
        event = self._find_event()
        if event is None:
            self._notes.mark_unstored()
        else:
            self._notes.mark_stored()
        self._remove_left(kept_in)
        number = changes[-1].number + 1 if changes else 1
        turn = changes[-1].turn if changes else 0
        name = f"{number:06}"
        folder = self._notes.folder / name
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
            event=event,
        )
        self._notes.add(recorded)
        self._is_new_turn = False
        return recorded

    def _remove_left(self, kept_in: Path | None) -> None:
        """Remove what killed processes have left; looked for once in each place."""
        if self._folder not in self._cleaned:
            self._cleaned.add(self._folder)
            remove_left_sessions(self._folder, self._session_id)
        if kept_in is not None and kept_in not in self._cleaned:
            self._cleaned.add(kept_in)
            remove_left_changes(kept_in, self._folder)

    def _end_tracked(self, recorded: RecordedChange, trees: tuple[str, str] | None) -> None:
        if trees is None:
            self.end(recorded, None)
        else:
            self.end(replace(recorded, trees=trees), ChangeOutcome([], [], []), is_command=True)

    def end(
        self, recorded: RecordedChange, outcome: ChangeOutcome | None, *, is_command: bool = False
    ) -> None:
        """Note the end of a change that this object has begun.

        Args:
            recorded: The change.
            outcome: What it did; None to forget it.
            is_command: Whether a command made it.
        """
        with self._guard:
            self._open -= 1
            try:
                if not self._notes.folder.is_dir():
                    recorded.remove_versions()
                    if outcome is not None:
                        raise ChangeError(f"`{self._notes.folder}` is gone")
                elif outcome is None:
                    with suppress(OSError):  # it is forgotten when the notes are read next
                        self._load()
                        self._notes.forget(recorded)
                else:
                    self._load()
                    self._finishing.keep(recorded, outcome.done, is_command=is_command)
            finally:
                self._release()

    def hold(self, recorded: RecordedChange, layer: str) -> RecordedChange:
        """Note that a change which this object has begun waits for a person."""
        with self._guard:
            try:
                self._load()
                return self._finishing.hold(recorded, layer)
            finally:
                self._release()

    def leave(self) -> None:
        """Leave a change that is held to whoever goes on with it."""
        with self._guard:
            self._open -= 1
            self._release()

    def recover(self, recorded: RecordedChange) -> bool:
        """Finish or take back a change that failed; return whether something was changed."""
        with self._guard:
            self._open -= 1
            try:
                self._load()
                return self._finishing.recover(recorded)
            finally:
                self._release()

    def _release(self) -> None:
        """Let others take changes back, unless some are made or a turn runs."""
        if not self._runs_turn and not self._open:
            self._notes.release()

    def _load(self) -> list[RecordedChange]:
        """Take the lock, and return what is noted: another process may have changed it meanwhile."""
        if self._process != os.getpid() and not self._is_fork:
            # What was begun is that of the process that was forked.
            self._is_fork, self._open, self._runs_turn = True, 0, False
        if not self._notes.folder.is_dir():
            self._notes.close()
        if not self._notes.is_held:
            self._notes.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for recorded in [each for each in self._notes.load() if not each.is_done]:
                self._finishing.end_interrupted(recorded)
        return self._notes.load()


class _End:
    """The end of a change of a session."""

    def __init__(self, changes: SessionChanges, recorded: RecordedChange) -> None:
        self._changes = changes
        self._recorded = recorded

    def keep(self, outcome: ChangeOutcome, *, is_command: bool) -> None:
        self._changes.end(self._recorded, outcome, is_command=is_command)

    def drop(self) -> None:
        self._changes.end(self._recorded, None)

    def recover(self) -> bool:
        return self._changes.recover(self._recorded)

    def hold(self, layer: str) -> None:
        self._recorded = self._changes.hold(self._recorded, layer)

    def leave(self) -> None:
        self._changes.leave()


def _is_as_shown(change: Change, layer: str) -> bool:
    try:
        return hash_layer(change.layer) == layer
    except OSError:
        return False
