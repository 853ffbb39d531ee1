"""A command whose changes can be taken back: what runs it looks at the project before and after."""

from __future__ import annotations

from abc import ABC, abstractmethod

from amplifier_modules.changes.open_change import Call
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.sandbox.command import (
    Command,
    CommandRunner,
    Ending,
    Forward,
    RunningCommand,
    Tier,
)


class KeptRunner(ABC):
    """Runs one command by another runner, and is told of its end."""

    takes_layers = False
    """Whether somebody else may give it a layer."""

    def __init__(
        self, runner: CommandRunner, project: str, changes: SessionChanges, call: Call
    ) -> None:
        """Keep what a command of a call changes in a project."""
        self.runner = runner
        self.project = project
        self.changes = changes
        self.call = call

    @property
    def tier(self) -> Tier:
        """What keeps it to the project."""
        return self.runner.tier

    @property
    def reaches_hosts(self) -> bool:
        """Whether it reaches any host."""
        return self.runner.reaches_hosts

    @abstractmethod
    def start(self, command: Command, output: int) -> RunningCommand:
        """Start the command without input, as `CommandRunner` says."""

    @abstractmethod
    def settle(self, ending: Ending | None, output: str) -> tuple[str, ...]:
        """Keep what the command has changed, and return what is to be said of it.

        Args:
            ending: How the command ended; None if it was not started.
            output: The end of what it wrote.
        """

    def check_forward(self, port: int) -> None:
        """Look whether a port can be forwarded, as `CommandRunner` says."""
        self.runner.check_forward(port)

    def forward_port(self, port: int) -> Forward:
        """Pass connections to a port of this machine on, as `CommandRunner` says."""
        return self.runner.forward_port(port)

    def close(self) -> None:  # noqa: B027 -- most have nothing to close
        """Do nothing: the other runner is its owner's to close."""
