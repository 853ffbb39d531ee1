"""A command that has run in a process which ended while a person was asked about its changes."""

from __future__ import annotations

from typing import Any

import anyio.to_thread

from amplifier_modules.tool.context import AskedBefore, ToolContext

from .change_approval import ask_again
from .kept_changes import KeptChanges

_MADE = "what was agreed to was put into the project before the process ended"
_NO_FILE = "the file with the whole output is gone, as its process has ended"


async def continue_command(
    context: ToolContext[Any], before: AskedBefore, kept: KeptChanges
) -> dict[str, Any]:
    """Ask about the changes of a command again, and return its result; it does not run again.

    Args:
        context: That of the call.
        before: What was asked.
        kept: Where the changes are.

    Raises:
        HeldChangeError: They are not there, or are not what was shown: nothing is made.
        OSError: They cannot be read.
        QuestionPutOff: The answer comes when the turn has ended; the changes are kept until then.
    """
    pending = await anyio.to_thread.run_sync(kept.open_pending, before.resume)
    result, notes = dict(before.resume["result"]), list(before.resume["notes"])
    notes += [_MADE] if pending is None else await ask_again(context, before, pending)
    if result.pop("output_file", None) is not None:
        notes.append(_NO_FILE)
    return {**result, **({"note": "; ".join(notes)} if notes else {})}
