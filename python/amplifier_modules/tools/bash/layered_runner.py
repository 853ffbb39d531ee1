"""A command whose changes are kept, so that they can be taken back: it runs in a layer of its own."""

from __future__ import annotations

import re
from dataclasses import replace

from amplifier_modules.changes.change import ChangeOutcome
from amplifier_modules.changes.open_change import Call, OpenChange
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.sandbox.command import (
    Command,
    CommandRunner,
    Ending,
    Forward,
    LaunchError,
    Layer,
    RunningCommand,
    Tier,
)

_MAX_NAMED = 20
_NOT_IN_A_LAYER = re.compile(
    r"(invalid cross-device link|cross-device link not permitted|\bEXDEV\b"
    r"|value too large for defined data type|\bEOVERFLOW\b)",
    re.IGNORECASE,
)
"""What programs write where a layer is not like a folder: it does not rename one that is beneath it."""
_REPEAT = (
    "nothing that the command changed in the project was kept: it does something that a layer of"
    ' changes cannot do (`{line}`); repeat it with `sandbox: "direct"`'
)


class LayeredRunner:
    """Runs one command in a layer, and puts its changes into the project at its end."""

    takes_layers = False
    """Whether somebody else may give it a layer: it has one."""

    def __init__(
        self, runner: CommandRunner, project: str, changes: SessionChanges, call: Call
    ) -> None:
        """Run by another runner, which takes layers."""
        self._runner = runner
        self._project = project
        self._changes = changes
        self._call = call
        self._change: OpenChange | None = None

    @property
    def tier(self) -> Tier:
        """What keeps it to the project."""
        return self._runner.tier

    @property
    def reaches_hosts(self) -> bool:
        """Whether it reaches any host."""
        return self._runner.reaches_hosts

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start the command without input, as `CommandRunner` says."""
        try:
            self._change = self._changes.begin(self._project, self._call)
        except (OSError, RuntimeError) as error:
            raise LaunchError(f"the changes of the command cannot be kept: {error}") from error
        if self._change is None:
            return self._runner.start(command, output)
        changes, work = self._change.layer
        return self._runner.start(replace(command, layer=Layer(changes, work)), output)

    def settle(self, ending: Ending | None, output: str) -> tuple[str, ...]:
        """Put the changes into the project, and return what became of them where that is to be said.

        Args:
            ending: How the command ended; None if it was not started.
            output: The end of what it wrote.
        """
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
            return tuple(_describe(change.commit()))
        except OSError as error:
            return (f"nothing that the command changed in the project was kept: {error}",)

    def check_forward(self, port: int) -> None:
        """Look whether a port can be forwarded, as `CommandRunner` says."""
        self._runner.check_forward(port)

    def forward_port(self, port: int) -> Forward:
        """Pass connections to a port of this machine on, as `CommandRunner` says."""
        return self._runner.forward_port(port)

    def close(self) -> None:
        """Do nothing: the other runner is its owner's to close."""


def _find_line(output: str) -> str | None:
    """Return the last line that says that something is not possible in a layer."""
    lines = (line.strip() for line in reversed(output.splitlines()))
    return next((line[:200] for line in lines if _NOT_IN_A_LAYER.search(line)), None)


def _describe(outcome: ChangeOutcome) -> list[str]:
    """Return what became of changes that were not made as the command made them."""
    notes: list[str] = []
    for each in outcome.conflicts:
        kept = f"; what the command made of it is kept as `{each.kept}`" if each.kept else ""
        notes.append(f"`{each.path}` was not changed: {each.reason}{kept}")
    notes += [f"`{each.path}`: {each.reason}" for each in outcome.dropped]
    more = len(notes) - _MAX_NAMED
    return notes if more <= 0 else [*notes[:_MAX_NAMED], f"{more} more like these"]
