"""A change that is being made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .change import Change, ChangedPath, ChangeOutcome


@dataclass(frozen=True)
class Call:
    """The call of a tool that changes something."""

    tool: str
    id: str | None = None
    """As the model named it."""
    session_id: str | None = None
    """Its session; None for the one whose changes are kept."""


class FinishChange(Protocol):
    """Notes the end of a change."""

    def __call__(self, *, is_kept: bool) -> None:
        """Note whether it is kept."""
        ...


class FinishTracked(Protocol):
    """Notes the end of a change that is known by states of the project."""

    def __call__(self, trees: tuple[str, str] | None) -> None:
        """Note the states before and after; None to forget it."""
        ...


class OpenChange:
    """A change until its end, which `commit`, `record_after` or `drop` is."""

    def __init__(self, change: Change, finish: FinishChange) -> None:
        """Wrap a change that was begun.

        Args:
            change: Where it is kept.
            finish: Notes its end.
        """
        self._change = change
        self._finish = finish

    @property
    def layer(self) -> tuple[str, str]:
        """The folders of an overlay: for its changes, and for the kernel."""
        return self._change.layer, self._change.work

    def list_paths(self) -> list[ChangedPath]:
        """Return what a commit would do.

        Raises:
            ChangeError: The layer cannot be read.
        """
        return self._change.list_paths()

    def commit(self, chosen: Sequence[str] | None = None) -> ChangeOutcome:
        """Put what the layer has into the project.

        Args:
            chosen: Paths, which alone are put there with the folders that they need; None for all.

        Raises:
            ChangeError: It cannot be read or written; nothing was changed, or `list_changes` ends it.
        """
        outcome = self._change.commit(chosen)
        self._finish(is_kept=bool(outcome.done or outcome.conflicts))
        return outcome

    def record_before(self, contents: Mapping[str, bytes | None]) -> None:
        """Keep files as they are before they are written.

        Args:
            contents: What each file will hold, by its path from the project; None for one that
                will be gone.
        """
        self._change.record_before(list(contents), list(contents.values()))

    def record_after(self) -> ChangeOutcome:
        """Note what was written."""
        outcome = self._change.record_after()
        self._finish(is_kept=bool(outcome.done))
        return outcome

    def drop(self) -> None:
        """Forget what is not in the project."""
        self._finish(is_kept=False)
