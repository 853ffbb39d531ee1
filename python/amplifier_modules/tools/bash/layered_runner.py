"""A command whose changes are kept, so that they can be taken back: it runs in a layer of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from amplifier_modules.changes.careful import choose_paths, find_careful_changes
from amplifier_modules.changes.change import ChangeOutcome
from amplifier_modules.changes.open_change import OpenChange
from amplifier_modules.sandbox.command import Command, Ending, LaunchError, Layer, RunningCommand

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

_ASK = 'if that is needed, repeat it with `sandbox: "none"` and a `reason`, which asks a person'


class LayeredRunner(KeptRunner):
    """Runs one command in a layer, and puts its changes into the project at its end."""

    _change: OpenChange | None = None

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
        """Put the changes into the project, as `KeptRunner` says."""
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
            return tuple(self._commit(change))
        except OSError as error:
            return (f"nothing that the command changed in the project was kept: {error}",)

    def _commit(self, change: OpenChange) -> list[str]:
        paths = change.list_paths()
        careful = find_careful_changes(paths, self._find_ignored, self.project)
        left_out = {path for each in careful for path in each.paths}
        chosen = choose_paths(paths, left_out) if careful else None
        notes = [
            f"{', '.join(f'`{path}`' for path in each.paths[:_MAX_NAMED])} was not changed:"
            f" {each.reason}; {_ASK}"
            for each in careful
        ]
        return notes + _describe(change.commit(chosen))

    def _find_ignored(self, paths: Sequence[str]) -> Collection[str]:
        try:
            return self.changes.find_ignored(self.project, paths)
        except OSError:  # without git, nothing is ignored
            return ()


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
