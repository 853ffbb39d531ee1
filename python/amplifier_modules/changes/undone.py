"""What an undo took back, or a redo made again."""

from __future__ import annotations

from dataclasses import dataclass, field

from .change import ChangedPath, ChangeOutcome, Conflict


@dataclass(frozen=True)
class Undone:
    """What became of the files of a project."""

    paths: tuple[ChangedPath, ...] = ()
    """What was put back or made again: `kind` and versions are those of the change itself."""
    conflicts: tuple[Conflict, ...] = ()
    """What somebody else has changed since: it stays so, and the other version is kept."""
    missing: tuple[str, ...] = ()
    """What cannot be had any more, and why."""
    changes: int = 0
    """How many commands and writes it was."""
    is_preview: bool = False
    """Whether nothing was done."""


@dataclass
class Collected:
    """Gathers the outcomes of several changes, each path once."""

    changes: int = 0
    missing: list[str] = field(default_factory=list[str])
    _paths: dict[str, ChangedPath] = field(default_factory=dict[str, ChangedPath])
    _conflicts: dict[str, Conflict] = field(default_factory=dict[str, Conflict])

    def add(self, outcome: ChangeOutcome, *, is_preview: bool) -> None:
        """Add what one change came to.

        In a preview an older change is judged by what is there now, which the newer ones of the
        same path would have put back before: theirs counts.
        """
        self.changes += 1
        known = self._paths.keys() | self._conflicts.keys()
        for path in outcome.done:
            if path.path not in known:
                self._paths[path.path] = path
        for conflict in outcome.conflicts:
            if conflict.path not in known or not is_preview:
                self._paths.pop(conflict.path, None)
                self._conflicts[conflict.path] = conflict

    def finish(self, *, is_preview: bool) -> Undone:
        """Return all of it, by path."""
        return Undone(
            tuple(sorted(self._paths.values(), key=lambda each: each.path)),
            tuple(sorted(self._conflicts.values(), key=lambda each: each.path)),
            tuple(self.missing),
            self.changes,
            is_preview,
        )


_MAX_NAMED = 50


def describe_undo(undone: Undone) -> str:
    """Return what the model is told of changes that were taken back."""
    return _tell("took back", "as before", undone)


def describe_redo(redone: Undone) -> str:
    """Return what the model is told of changes that were made again."""
    return _tell("made again", "as you left it", redone)


def _tell(verb: str, state: str, undone: Undone) -> str:
    named = [f"`{each.path}`" for each in undone.paths]
    parts = [f"[The user {verb} changes of yours: {_list(named)}; each is {state}."]
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
