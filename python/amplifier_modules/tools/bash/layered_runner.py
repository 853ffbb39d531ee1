"""A command whose changes are kept, so that they can be taken back: it runs in a layer of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from amplifier_modules.changes.careful import (
    CarefulChange,
    choose_paths,
    find_careful_changes,
)
from amplifier_modules.changes.change import ChangedPath, ChangeOutcome
from amplifier_modules.changes.open_change import Call, OpenChange
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.shown_path import show_path
from amplifier_modules.sandbox.command import (
    Command,
    CommandRunner,
    Ending,
    LaunchError,
    Layer,
    RunningCommand,
)

from .kept_runner import KeptRunner

_MAX_NAMED = 20
_NOT_IN_A_LAYER = re.compile(
    r"(invalid cross-device link|cross-device link not permitted|\bEXDEV\b"
    r"|value too large for defined data type|\bEOVERFLOW\b|hardlink different from source)",
    re.IGNORECASE,
)
"""What programs write where a layer is not like a folder: it does not rename one that is beneath it."""
_REPEAT = (
    "nothing that the command changed in the project was kept: it does something that a layer of"
    ' changes cannot do (`{line}`); repeat it with `sandbox: "direct"`'
)

_CANCELLED = "the call ended before a person could be asked"


@dataclass(frozen=True)
class PendingChanges:
    """Changes of a command that has ended, of which a person is asked about some."""

    change: OpenChange
    paths: Mapping[str, ChangedPath]
    careful: Sequence[CarefulChange]

    def commit(self, *, is_agreed: bool, why_not: str = "") -> tuple[str, ...]:
        """Put them into the project; those that nobody agreed to are left out.

        Args:
            is_agreed: Whether a person agreed to the rest.
            why_not: What the person says, or why nobody was asked.
        """
        left_out = {path for each in self.careful for path in each.paths}
        chosen = None if is_agreed else choose_paths(list(self.paths.values()), left_out)
        notes: list[str] = []
        if not is_agreed:
            notes = [
                f"{_name_paths(each.paths)} not changed: {each.reason}" for each in self.careful
            ]
            notes.append(why_not)
        try:
            return (*notes, *_describe(self.change.commit(chosen)))
        except OSError as error:
            return (f"nothing that the command changed in the project was kept: {error}",)


class LayeredRunner(KeptRunner):
    """Runs one command in a layer, and puts its changes into the project at its end."""

    def __init__(
        self, runner: CommandRunner, project: str, changes: SessionChanges, call: Call
    ) -> None:
        """Keep what a command of a call changes in a project."""
        super().__init__(runner, project, changes, call)
        self._change: OpenChange | None = None
        self._lock = Lock()
        self._pending: PendingChanges | None = None
        self._can_wait = True

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start the command without input, as `CommandRunner` says."""
        try:
            self._change = self.changes.begin(self.project, self.call)
        except (OSError, RuntimeError) as error:
            raise LaunchError(f"the changes of the command cannot be kept: {error}") from error
        if self._change is None:
            return self.runner.start(command, output)
        changes, work = self._change.layer
        return self.runner.start(replace(command, layer=Layer(changes, work)), output)

    def settle(self, ending: Ending | None, output: str) -> tuple[str, ...]:
        """Put the changes into the project, as `KeptRunner` says, unless a person is to be asked."""
        change, self._change = self._change, None
        if change is None:
            return ()
        if ending is None:
            change.drop()
            return ()
        if ending.exit_code != 0 and (found := _find_line(output)) is not None:
            change.drop()
            return (_REPEAT.format(line=found),)
        try:
            paths = change.list_paths()
        except OSError as error:
            return (f"nothing that the command changed in the project was kept: {error}",)
        careful = find_careful_changes(paths, self._find_ignored, self.project)
        pending = PendingChanges(change, {each.path: each for each in paths}, careful)
        if not careful:
            return pending.commit(is_agreed=True)
        with self._lock:
            if self._can_wait:
                self._pending = pending
                return ()
        return pending.commit(is_agreed=False, why_not=_CANCELLED)

    def take_pending(self) -> PendingChanges | None:
        """Return the changes that a person is to be asked about, once."""
        with self._lock:
            pending, self._pending = self._pending, None
        return pending

    def stop_waiting(self) -> None:
        """Put into the project what needs no person, as nobody is there to ask one."""
        with self._lock:
            self._can_wait = False
            pending, self._pending = self._pending, None
        if pending is not None:
            pending.commit(is_agreed=False, why_not=_CANCELLED)

    def _find_ignored(self, paths: Sequence[str]) -> Collection[str]:
        try:
            return self.changes.find_ignored(self.project, paths)
        except OSError:  # without git, nothing is ignored
            return ()


def _name_paths(paths: Sequence[str]) -> str:
    shown = ", ".join(f"`{show_path(path)}`" for path in paths[:_MAX_NAMED])
    more = len(paths) - _MAX_NAMED
    verb = "was" if len(paths) == 1 else "were"
    return f"{shown} and {more:,} more {verb}" if more > 0 else f"{shown} {verb}"


def _find_line(output: str) -> str | None:
    """Return the last line that says that something is not possible in a layer."""
    lines = (line.strip() for line in reversed(output.splitlines()))
    return next((line[:200] for line in lines if _NOT_IN_A_LAYER.search(line)), None)


def _describe(outcome: ChangeOutcome) -> list[str]:
    """Return what became of changes that were not made as the command made them."""
    notes: list[str] = []
    for each in outcome.conflicts:
        where = f"; what the command made of it is kept as `{show_path(each.kept or '')}`"
        kept = where if each.kept else ""
        notes.append(f"`{show_path(each.path)}` was not changed: {each.reason}{kept}")
    notes += [f"`{show_path(each.path)}`: {each.reason}" for each in outcome.dropped]
    more = len(notes) - _MAX_NAMED
    return notes if more <= 0 else [*notes[:_MAX_NAMED], f"{more} more like these"]
