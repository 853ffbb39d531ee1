"""A change that is being made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .change import Change, ChangedPath, ChangeError, ChangeOutcome
from .shown_hash import hash_layer


@dataclass(frozen=True)
class Call:
    """The call of a tool that changes something."""

    tool: str
    id: str | None = None
    """As the model named it."""
    session_id: str | None = None
    """Its session; None for the one whose changes are kept."""


class HeldChangeError(ChangeError):
    """A change that a person was asked about, and that is not there any more as it was shown."""


class CommittedError(ChangeError):
    """A change that is in the project, at least in part, although its commit failed."""


class ChangeEnd(Protocol):
    """Notes the end of a change."""

    def keep(self, outcome: ChangeOutcome, *, is_command: bool) -> None:
        """Keep what was changed."""
        ...

    def drop(self) -> None:
        """Forget it: nothing was changed."""
        ...

    def recover(self) -> bool:
        """Finish or take back what failed in the middle; return whether something was changed."""
        ...

    def hold(self, layer: str) -> None:
        """Have it outlive this process, until a person has answered."""
        ...

    def leave(self) -> None:
        """Leave it to whoever goes on with it."""
        ...


class FinishTracked(Protocol):
    """Notes the end of a change that is known by states of the project."""

    def __call__(self, trees: tuple[str, str] | None) -> None:
        """Note the states before and after; None to forget it."""
        ...


class OpenChange:
    """A change until its end, which `commit`, `record_after`, `drop` or `leave` is."""

    def __init__(self, change: Change, end: ChangeEnd) -> None:
        """Wrap a change that was begun.

        Args:
            change: Where it is kept.
            end: Notes its end.
        """
        self._change = change
        self._end: ChangeEnd | None = end

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

    def hold(self) -> str:
        """Have the layer kept until a person has answered, and return its hash; blocks.

        Raises:
            OSError: It cannot be read, or cannot be kept.
        """
        layer = hash_layer(self._change.layer)
        if self._end is not None:
            self._end.hold(layer)
        return layer

    def leave(self) -> None:
        """Leave what is held to whoever goes on with it."""
        end, self._end = self._end, None
        if end is not None:
            end.leave()

    def commit(self, chosen: Sequence[str] | None = None) -> ChangeOutcome:
        """Put what the layer has into the project.

        Args:
            chosen: Paths, which alone are put there with the folders that they need; None for all.

        Raises:
            ChangeError: It cannot be read or written; nothing was changed, and it is forgotten.
            CommittedError: Something was changed. `list_changes` finishes what can be finished.
        """
        outcome = self._try_step(lambda: self._change.commit(chosen))
        self._settle(outcome, is_kept=bool(outcome.done or outcome.conflicts), is_command=True)
        return outcome

    def record_before(self, contents: Mapping[str, bytes | None]) -> None:
        """Keep files as they are before they are written.

        Args:
            contents: What each file will hold, by its path from the project; None for one that
                will be gone.
        """
        self._change.record_before(list(contents), list(contents.values()))

    def record_after(self) -> ChangeOutcome:
        """Note what was written.

        Raises:
            ChangeError: It cannot be noted; as for `commit`.
        """
        outcome = self._try_step(self._change.record_after)
        self._settle(outcome, is_kept=bool(outcome.done), is_command=False)
        return outcome

    def drop(self) -> None:
        """Forget what is not in the project; do nothing after the end."""
        end, self._end = self._end, None
        if end is not None:
            end.drop()

    def _try_step(self, step: Callable[[], ChangeOutcome]) -> ChangeOutcome:
        try:
            return step()
        except BaseException as error:
            end, self._end = self._end, None
            if end is not None and end.recover() and isinstance(error, ChangeError):
                raise CommittedError(f"it was interrupted: {error}") from error
            raise

    def _settle(self, outcome: ChangeOutcome, *, is_kept: bool, is_command: bool) -> None:
        end, self._end = self._end, None
        if end is None:
            return
        if not is_kept:
            end.drop()
            return
        try:
            end.keep(outcome, is_command=is_command)
        except OSError as error:
            raise CommittedError(f"it cannot be taken back: {error}") from error
