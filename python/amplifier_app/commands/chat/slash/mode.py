"""`/mode`."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line
from amplifier_app.commands.chat.modes import MODES
from amplifier_app.failure import Failure
from amplifier_app.line_input.candidate import Candidate


def _use_mode(context: CommandContext, argument: str) -> Shown:
    """Show the mode, or begin to change it, which takes effect at the next call."""
    mode = argument.lower()
    if not mode:
        return [show_line(f"the mode is {context.turns.mode or 'the usual one'}")]
    if mode not in MODES:
        hint = f"there are {', '.join(f'`{name}`' for name in MODES)}"
        raise Failure(f"there is no mode `{argument}`", hint=hint)
    context.modes.choose(mode)
    return [f"the mode is {mode} from now on"]


def _complete_mode(_: CommandContext, __: str) -> Iterator[Candidate]:
    yield from map(Candidate, MODES, MODES.values())


MODE = Command(
    name="/mode",
    usage="[NAME]",
    brief="what is asked about",
    about="Show the mode; with a name, go on in it: `auto`, `ask`, `review`, `read-only`, `plan`.",
    group=Group.ALLOWED,
    run=_use_mode,
    complete=_complete_mode,
)
