"""What an undo took back, or a redo made again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from amplifier_providers.running.count_noun import count_noun

from .change import ChangedPath, ChangeOutcome, Conflict
from .merged_paths import MergedPaths
from .recorded_change import RecordedChange, Removal

_REASONS: dict[Removal, str] = {
    "space": "all changes together may take 2 GiB, or 10 % of the free space",
    "ignored": "what git ignores is kept for the last five commands",
    "damaged": "the notes about them are damaged or gone",
}


@dataclass(frozen=True)
class Undone:
    """What became of the files of a project."""

    paths: tuple[ChangedPath, ...] = ()
    """What was put back or made again: each path once, with what the changes came to there."""
    conflicts: tuple[Conflict, ...] = ()
    """What somebody else has changed since: it stays so, and the other version is kept."""
    missing: tuple[str, ...] = ()
    """What could not be put back or made again, and why."""
    changes: int = 0
    """How many commands and writes it was."""
    is_preview: bool = False
    """Whether nothing was done."""


class Collected:
    """Gathers the outcomes of several changes, each path once."""

    def __init__(self, *, is_undo: bool, is_preview: bool) -> None:
        """Gather what was taken back, the last change first, or what was made again."""
        self._is_undo = is_undo
        self._is_preview = is_preview
        self._changes = 0
        self._missing: list[str] = []
        self._removed: list[RecordedChange] = []
        self._turns: set[int] = set()
        self._paths = MergedPaths()
        self._conflicts: dict[str, Conflict] = {}

    def add(
        self, recorded: RecordedChange, outcome: ChangeOutcome, listed: Iterable[ChangedPath]
    ) -> None:
        """Add what one change came to, or in a preview would come to.

        In a preview a further change is judged by what is there now, which the ones before it would
        have changed in the same place: theirs counts.

        Args:
            recorded: The change.
            outcome: What was done, or would be now.
            listed: All paths of the change.
        """
        self._changes += 1
        self._missing += [f"{each.path}: {each.reason}" for each in outcome.dropped]
        self._turns.add(recorded.turn)
        for conflict in outcome.conflicts:
            if not (self._is_preview and self._paths.has_at(conflict.path)):
                self._paths.remove(conflict.path)
                self._conflicts[conflict.path] = conflict
        for path in listed if self._is_preview else outcome.done:
            if path.path not in self._conflicts:
                (self._paths.add_earlier if self._is_undo else self._paths.add_later)(path)

    def add_missing(self, recorded: RecordedChange, reason: str) -> None:
        """Add why one change cannot be had now."""
        self._turns.add(recorded.turn)
        self._missing.append(reason)

    def add_removed(self, recorded: RecordedChange) -> None:
        """Add a change that is not kept any more."""
        self._removed.append(recorded)

    def finish(self) -> Undone:
        """Return all of it, by path."""
        return Undone(
            tuple(self._paths.list()),
            tuple(sorted(self._conflicts.values(), key=lambda each: each.path)),
            (*self._missing, *self._describe_removed()),
            self._changes,
            self._is_preview,
        )

    def _describe_removed(self) -> Iterator[str]:
        noun = "earlier turn" if self._is_undo else "turn"
        for reason, text in _REASONS.items():
            removed = [each for each in self._removed if each.removed == reason]
            turns = {each.turn for each in removed} - self._turns
            if turns:
                count = count_noun(len(turns), noun)
                yield f"the changes of {count} are not kept any more: {text}"
            if parts := [each for each in removed if each.turn in self._turns]:
                count = count_noun(len(parts), "change")
                verb = "is" if len(parts) == 1 else "are"
                yield f"{count} of the same turn {verb} not kept any more: {text}"


_MAX_NAMED = 50
_BEGINNING = "[The user"
_VERBS = _TOOK_BACK, _MADE_AGAIN = "took back", "made again"


def describe_undo(undone: Undone) -> str:
    """Return what the model is told of changes that were taken back."""
    return _tell(_TOOK_BACK, "as before", undone)


def describe_redo(redone: Undone) -> str:
    """Return what the model is told of changes that were made again."""
    return _tell(_MADE_AGAIN, "as you left it", redone)


def is_told(text: str) -> bool:
    """Whether a message says what became of changes, and nobody typed it."""
    return text.startswith(tuple(f"{_BEGINNING} {verb} changes of yours: " for verb in _VERBS))


def _tell(verb: str, state: str, undone: Undone) -> str:
    named = [f"`{each.path}`" for each in undone.paths]
    parts = [f"{_BEGINNING} {verb} changes of yours: {_list(named)}; each is {state}."]
    if undone.conflicts:
        conflicts = [f"`{each.path}`" for each in undone.conflicts]
        parts.append(f"These stay as somebody else has changed them: {_list(conflicts)}.")
    if undone.missing:
        parts.append(f"Not everything could be had: {'; '.join(undone.missing)}.")
    return " ".join([*parts, "Read a file again before you edit it.]"])


def _list(names: list[str]) -> str:
    more = len(names) - _MAX_NAMED
    shown = ", ".join(names[:_MAX_NAMED]) or "no file"
    return f"{shown} and {more} more" if more > 0 else shown
