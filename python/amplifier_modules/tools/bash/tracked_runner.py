"""A command that changes the project itself: it is taken back by the states before and after."""

from __future__ import annotations

from amplifier_modules.changes.tracked_change import OpenTracked
from amplifier_modules.sandbox.command import Command, Ending, RunningCommand

from .kept_runner import KeptRunner

_NOT_KEPT = "what the command changes in the project cannot be taken back: {error}"


class TrackedRunner(KeptRunner):
    """Runs one command, and keeps the state of the project from before it."""

    _change: OpenTracked | None = None
    _problem: str | None = None

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start the command without input, as `CommandRunner` says."""
        try:
            self._change = self.changes.begin_tracked(self.project, self.call)
        except (OSError, RuntimeError) as error:
            self._problem = _NOT_KEPT.format(error=error)
        return self.runner.start(command, output)

    def settle(self, ending: Ending | None, output: str) -> tuple[str, ...]:
        """Keep the state of the project from after it, as `KeptRunner` says."""
        change, self._change = self._change, None
        if change is None:
            return () if self._problem is None else (self._problem,)
        if ending is None:
            change.drop()
            return ()
        try:
            change.commit()
        except OSError as error:
            return (_NOT_KEPT.format(error=error),)
        return ()
