"""A change that is known by the states of the project before and after it."""

from __future__ import annotations

from dataclasses import replace

from .change import ChangedPath, ChangeOutcome, ChangeState
from .open_change import FinishTracked
from .recorded_change import RecordedChange
from .tracked import TrackedTree


class TrackedChange:
    """Takes back what git would keep of a change, as `Change` does it exactly."""

    def __init__(self, tree: TrackedTree, recorded: RecordedChange, trees: tuple[str, str]) -> None:
        """Open a change.

        Args:
            tree: The store that has the states.
            recorded: What is noted of it.
            trees: The states before and after.
        """
        self._tree = tree
        self._before, self._after = trees
        self.state: ChangeState = "undone" if recorded.is_undone else "committed"
        """Where the change is."""

    def list_paths(self) -> list[ChangedPath]:
        """Return what it did, sorted by path."""
        return self._tree.compare(self._before, self._after)

    def undo(self, *, preview: bool = False) -> ChangeOutcome:
        """Put the state from before into the project, but not over what was changed since."""
        outcome = self._tree.restore(self._before, self._after, preview=preview)
        # As the change made each path, not as the way back does.
        made = {each.path: each for each in self.list_paths()}
        return replace(outcome, done=[made.get(each.path, each) for each in outcome.done])

    def redo(self, *, preview: bool = False) -> ChangeOutcome:
        """Put the state from after into the project again."""
        return self._tree.restore(self._after, self._before, preview=preview)

    def recover(self) -> None:
        """Do nothing: what a crash interrupted is finished when it is done again."""

    def remove(self) -> None:
        """Do nothing: the states of a session are removed together."""


class OpenTracked:
    """A tracked change that is being made, by commands that are not in a layer."""

    def __init__(self, tree: TrackedTree, finish: FinishTracked) -> None:
        """Take the state of the project before it.

        Args:
            tree: Where states are kept.
            finish: Notes the states before and after.

        Raises:
            ChangeError: It cannot be taken.
        """
        self._tree = tree
        self._finish = finish
        self._before = tree.take()

    def commit(self) -> None:
        """Take the state after it.

        Raises:
            ChangeError: It cannot be taken; the change is forgotten.
        """
        try:
            after = self._tree.take()
        except BaseException:
            self._finish(None)
            raise
        self._finish((self._before, after) if after != self._before else None)

    def drop(self) -> None:
        """Forget it."""
        self._finish(None)
