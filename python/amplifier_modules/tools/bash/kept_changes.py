"""How the changes of the commands of a session can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from amplifier_modules.changes.mounting import describe_call
from amplifier_modules.changes.open_change import HeldChangeError
from amplifier_modules.changes.review import is_reviewing
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.sandbox.command import CommandRunner
from amplifier_modules.sandbox.layers import find_layer_obstacle

from .layered_runner import LayeredRunner, PendingChanges, open_pending
from .tracked_runner import TrackedRunner


class KeptChanges:
    """Has each command run in a layer where that is possible: found when the first one starts."""

    def __init__(self, runner: CommandRunner, project: str, changes: SessionChanges | None) -> None:
        """Keep the changes of a session; None for those of nobody.

        Args:
            runner: What runs the commands.
            project: The folder that they change.
            changes: Where their changes are kept.
        """
        self._runner = runner
        self._project = project
        self._changes = changes
        self._lock = Lock()
        self._obstacle: tuple[str | None] | None = None

    def find_obstacle(self) -> str | None:
        """Return why changes cannot be taken back; None if they can; blocks the first time."""
        with self._lock:
            if self._obstacle is None:
                self._obstacle = (self._look(),)
        return self._obstacle[0]

    def has_layers(self) -> bool:
        """Whether commands have layers; blocks the first time."""
        return self._changes is not None and self.find_obstacle() is None

    def make_runner(self, runner: CommandRunner, *, in_layer: bool) -> CommandRunner:
        """Return what runs the command of the call that runs here; blocks the first time.

        Args:
            runner: Where it runs.
            in_layer: Whether it may run in a layer; otherwise it changes the project itself.
        """
        if self._changes is None:
            return runner
        call = describe_call("bash")
        # Also for one that runs on: the folder that it must not read is made before it starts.
        is_possible = self.find_obstacle() is None
        if in_layer and runner is self._runner and is_possible:
            return LayeredRunner(
                runner, self._project, self._changes, call, is_review=is_reviewing()
            )
        return TrackedRunner(runner, self._project, self._changes, call)

    def open_pending(self, resume: Mapping[str, Any]) -> PendingChanges | None:
        """Return changes that a person was asked about in another process, as `open_pending`."""
        if self._changes is None:
            raise HeldChangeError("changes are not kept here")
        return open_pending(self._changes, self._project, describe_call("bash"), resume)

    def _look(self) -> str | None:
        if self._changes is None:
            return "changes are kept on Linux and macOS alone, with the Rust extension"
        if not self._runner.takes_layers:
            return "commands of this sandbox change the project itself"
        store = self._changes.find_folder(self._project)
        if store is None:
            return "nothing can be kept in the file system of the project, outside of it"
        return find_layer_obstacle(self._runner, self._project, str(store))
