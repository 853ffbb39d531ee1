"""`/add-dir`."""

from __future__ import annotations

from amplifier_app.commands.chat.command import (
    Command,
    CommandContext,
    Group,
    Shown,
    show_line,
    wait_with_argument,
)
from amplifier_app.failure import Failure

_USING = ("tool-filesystem", "tool-bash", "tool-search")


async def _add_folder(context: CommandContext, named: str) -> Shown:
    if not named:
        added = [show_line(each) for each in context.turns.added_folders]
        return added or ["no further folder; `/add-dir FOLDER` adds one"]
    from amplifier_modules.tools.added_folders import FolderRefusedError

    try:
        folder = await context.turns.add_folder(named)
    except FolderRefusedError as error:
        raise Failure(str(error)) from None
    if folder is None:
        return [show_line(f"`{named}` may be used already")]
    return [
        show_line(f"`{folder}` may be used, too; `/undo` does not take back what changes there")
    ]


ADD_DIR = Command(
    name="/add-dir",
    usage="[FOLDER]",
    brief="use a further folder",
    about="Let file tools and commands use a further folder in this session; alone: which there are."
    " `/undo` does not cover it.",
    group=Group.SESSION,
    run=_add_folder,
    waits=wait_with_argument,
    tools=_USING,
)
