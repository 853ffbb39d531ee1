"""`/undo`, `/redo` and `/diff`: what was changed in the project."""

from __future__ import annotations

from collections.abc import AsyncIterator

from amplifier_app.commands.chat.command import (
    Command,
    CommandContext,
    Group,
    Run,
    Shown,
    wait_always,
)
from amplifier_app.line_input.candidate import Candidate

_WRITING = ("tool-filesystem", "tool-bash")
"""The tools whose changes a session keeps."""


def _answer(name: str) -> Run:
    async def answer(context: CommandContext, argument: str) -> Shown:
        from amplifier_app.commands.changes.in_conversation import answer_command

        return await answer_command(name, argument, await context.turns.open())

    return answer


async def _complete_points(context: CommandContext, _: str) -> AsyncIterator[Candidate]:
    """Yield the changes that can be gone back to, the last one first."""
    conversation = context.turns.conversation
    if conversation is None or not conversation.is_usable or context.turns.running is not None:
        return
    for change in reversed(await conversation.list_changes()):
        paths = f"{change.paths[0]}{' …' if change.paths[1:] else ''}" if change.paths else ""
        yield Candidate(change.id, f"{change.turn or ''} {change.tool} {paths}".strip())


UNDO = Command(
    name="/undo",
    usage="[CHANGE]",
    brief="take back changes",
    about="Take back what the last turn has changed; `/undo change-3`: all that came after that.",
    group=Group.CHANGES,
    run=_answer("/undo"),
    waits=wait_always,
    complete=_complete_points,
    tools=_WRITING,
    is_posix=True,
)
REDO = Command(
    name="/redo",
    brief="make them again",
    about="Make again what was taken back.",
    group=Group.CHANGES,
    run=_answer("/redo"),
    waits=wait_always,
    tools=_WRITING,
    is_posix=True,
)
DIFF = Command(
    name="/diff",
    brief="what was changed",
    about="Show what the conversation has changed in the project.",
    group=Group.CHANGES,
    run=_answer("/diff"),
    waits=wait_always,
    tools=_WRITING,
    is_posix=True,
)
