"""`/undo`, `/redo` and `/diff` of a conversation in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from amplifier_app.known_secrets import SECRETS
from amplifier_modules.changes.merged_paths import merge_paths
from amplifier_modules.changes.undone import Undone

from .diff import list_changes, list_diff
from .stored_changes import reporting_change_errors
from .undone_lines import MADE_AGAIN, UNDONE, list_undone

if TYPE_CHECKING:
    from amplifier_app.commands.conversation import Conversation

_MAX_LINES = 500
"""So many lines of a diff are shown."""


async def answer_command(
    command: str, argument: str, conversation: Conversation | None
) -> Sequence[str]:
    """Obey a command, and return lines that are safe to show.

    Args:
        command: Its name.
        argument: Of `/undo`, what to go back to.
        conversation: What it is about; None before the first turn.

    Raises:
        Failure: The changes are in use, or cannot be read.
        RuntimeError: The session keeps none.
    """
    with reporting_change_errors():
        if command == "/diff":
            return await _show_diff(conversation)
        if command == "/undo":
            undone = Undone() if conversation is None else await conversation.undo(argument)
            lines = list_undone(undone, UNDONE)
        else:
            redone = Undone() if conversation is None else await conversation.redo()
            lines = list_undone(redone, MADE_AGAIN)
        return [SECRETS.redact(line) for line in lines]


async def _show_diff(conversation: Conversation | None) -> Sequence[str]:
    paths = merge_paths([] if conversation is None else await conversation.list_changed_paths())
    if not paths:
        return ["nothing has changed in the project"]
    lines = [SECRETS.redact(line) for line in islice(list_diff(paths, shows=True), _MAX_LINES + 1)]
    if len(lines) > _MAX_LINES:
        lines[-1] = "… and more; `amplifier-core diff` shows all of it"
    named = [] if conversation is None else await conversation.list_changes()
    return [*lines, *(SECRETS.redact(line) for line in list_changes(named))]
