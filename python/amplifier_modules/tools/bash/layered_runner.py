"""A command whose changes are kept, so that they can be taken back: it runs in a layer of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from amplifier_modules.changes.asked import (
    FileHunks,
    Part,
    find_part_hunks,
    list_parts,
    merge_hunks,
)
from amplifier_modules.changes.careful import choose_paths, find_careful_changes
from amplifier_modules.changes.change import ChangedPath, ChangeOutcome
from amplifier_modules.changes.open_change import Call, CommittedError, OpenChange
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.shown_hash import digest_content
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

_NOT_KEPT = "nothing that the command changed in the project was kept: {error}"
_CANCELLED = "the call ended before a person could be asked"


@dataclass(frozen=True)
class PendingChanges:
    """Changes of a command that has ended, of which a person is asked about some."""

    change: OpenChange
    paths: Mapping[str, ChangedPath]
    parts: Sequence[Part]
    """What is asked about; the rest is put into the project in any case."""
    hunks: Mapping[str, FileHunks] = field(default_factory=dict[str, FileHunks])
    """Files of which some hunks can be agreed to, by the names of their parts."""

    def with_hunks(self) -> PendingChanges:
        """Return the same with the hunks of its files; blocks."""
        return replace(self, hunks=find_part_hunks(self.parts, self.paths))

    def describe(self) -> dict[str, Any]:
        """Return as JSON what `open_pending` needs in another process."""
        return {
            "paths": list(self.paths),
            "parts": [[each.name, list(each.paths), each.reason] for each in self.parts],
            "hunks": {
                name: [digest_content(each.before), digest_content(each.after)]
                for name, each in self.hunks.items()
            },
        }

    def commit(self, agreed: Collection[str], why_not: str = "") -> tuple[str, ...]:
        """Put them into the project, without the parts that nobody agreed to.

        Args:
            agreed: The names of the parts and of the hunks that a person agreed to.
            why_not: What the person says of the others, or why nobody was asked.

        Returns:
            What is to be said of them.
        """
        partly = [each for each in self.parts if self._is_partly(each, agreed)]
        refused = [each for each in self.parts if each.name not in agreed and each not in partly]
        left_out = {path for part in refused for path in part.paths}
        notes = [_describe_refused(part) for part in refused]
        for part in partly:
            hunks = self.hunks[part.name]
            try:
                merge_hunks(self.paths.get(part.name), hunks, agreed)
            except OSError as error:
                left_out.update(part.paths)
                notes.append(f"`{show_path(part.name)}` was not changed: {error}")
            else:
                notes += [f"{_name_hunk(each)} was not made" for each in hunks.list_left(agreed)]
        if notes and why_not:
            notes.append(why_not)
        try:
            found = self.change.list_paths() if self.parts else list(self.paths.values())
            chosen = self._choose(found, left_out)
            if chosen is not None:
                notes += self._describe_changed(found, left_out)
            return (*_shorten(notes), *_describe(self.change.commit(chosen)))
        except CommittedError as error:
            return (f"what the command changed is in the project, at least in part: {error}",)
        except (OSError, RuntimeError) as error:
            self.change.drop()
            return (_NOT_KEPT.format(error=error),)

    def _is_partly(self, part: Part, agreed: Collection[str]) -> bool:
        hunks = None if part.name in agreed else self.hunks.get(part.name)
        return hunks is not None and bool(hunks.list_taken(agreed))

    def _choose(self, found: Sequence[ChangedPath], left_out: Collection[str]) -> list[str] | None:
        """Return the paths to commit: of what was shown, without what is left out; None for all.

        What somebody else does to the project meanwhile may let more of the layer get there.
        """
        unseen = {each.path for each in found if each.path not in self.paths}
        if not left_out and not unseen:
            return None
        return choose_paths(found, {*left_out, *unseen})

    def _describe_changed(
        self, found: Sequence[ChangedPath], left_out: Collection[str]
    ) -> list[str]:
        """Return what is to be said of agreed paths that somebody else has changed since."""
        there = {each.path for each in found}
        gone = (path for part in self.parts for path in part.paths if path not in there)
        return [
            f"`{show_path(path)}` was not changed: somebody has changed it since it was shown"
            for path in gone
            if path not in left_out
        ]


def open_pending(
    changes: SessionChanges, project: str, call: Call, resume: Mapping[str, Any]
) -> PendingChanges | None:
    """Return changes that a person was asked about in another process; None if they are made.

    Args:
        changes: Where they are kept.
        project: The folder.
        call: The call of the tool.
        resume: What `PendingChanges.describe` has returned, with the hash of the `layer`.

    Raises:
        HeldChangeError: They are not there, or are not what was shown.
        OSError: They cannot be read.
    """
    change = changes.open_held(project, call, resume["layer"])
    if change is None:
        return None
    try:
        shown = set(resume["paths"])
        paths = {each.path: each for each in change.list_paths() if each.path in shown}
    except BaseException:
        change.leave()
        raise
    parts = [Part(name, tuple(each), reason) for name, each, reason in resume["parts"]]
    pending = PendingChanges(change, paths, parts).with_hunks()
    shown_hunks = resume.get("hunks", {})
    same = {
        name: each
        for name, each in pending.hunks.items()
        if shown_hunks.get(name) == [digest_content(each.before), digest_content(each.after)]
    }
    return replace(pending, hunks=same)


class LayeredRunner(KeptRunner):
    """Runs one command in a layer, and puts its changes into the project at its end."""

    def __init__(
        self,
        runner: CommandRunner,
        project: str,
        changes: SessionChanges,
        call: Call,
        *,
        is_review: bool = False,
    ) -> None:
        """Keep what a command of a call changes in a project.

        Args:
            runner: What runs it.
            project: The folder.
            changes: Where its changes are kept.
            call: The call of the tool.
            is_review: Whether a person is asked about all of them.
        """
        super().__init__(runner, project, changes, call)
        self._is_review = is_review
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
            change.drop()
            return (_NOT_KEPT.format(error=error),)
        careful = find_careful_changes(paths, self._find_ignored, self.project)
        by_path = {each.path: each for each in paths}
        parts = list_parts(careful, by_path, is_review=self._is_review)
        pending = PendingChanges(change, by_path, parts)
        if not parts:
            return pending.commit(())
        with self._lock:
            if self._can_wait:
                self._pending = pending
                return ()
        return pending.commit((), _CANCELLED)

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
            pending.commit((), _CANCELLED)

    def _find_ignored(self, paths: Sequence[str]) -> Collection[str]:
        try:
            return self.changes.find_ignored(self.project, paths)
        except OSError:  # without git, nothing is ignored
            return ()


def _describe_refused(part: Part) -> str:
    reason = f": {part.reason}" if part.reason else ""
    return f"`{show_path(part.name)}` was not changed{reason}"


def _name_hunk(name: str) -> str:
    return f"`{show_path(name)}`"


def _shorten(notes: list[str]) -> list[str]:
    more = len(notes) - _MAX_NAMED
    return notes if more <= 0 else [*notes[:_MAX_NAMED], f"{more:,} more like these"]


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
    return _shorten(notes)
