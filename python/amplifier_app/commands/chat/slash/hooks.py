"""`/hooks`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line
from amplifier_app.commands.chat.slash.opened import open_conversation

_NAME = "hooks-shell"
_MAX_EVENTS = 3


async def _show_hooks(context: CommandContext, _: str) -> Shown:
    """Show the hooks of the session, and the shell hooks that are written down.

    Raises:
        Exception: What keeps a session from starting.
    """
    conversation = await open_conversation(context)
    events: dict[str, list[str]] = {}
    for event, names in conversation.list_handlers().items():
        for name in dict.fromkeys(names):
            events.setdefault(name, []).append(event)
    lines: list[str] = []
    config = conversation.find_config(_NAME)
    if config is not None:
        folder = context.turns.order.folder
        lines += await asyncio.to_thread(lambda: [*_list_shell_hooks(config, folder)])
    if not lines:
        lines.append("there are no shell hooks, neither yours nor of the project")
    lines += [show_line(f"{name}: {_name_events(events[name])}") for name in sorted(events)]
    return lines


def _name_events(names: list[str]) -> str:
    if len(names) <= _MAX_EVENTS + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_MAX_EVENTS])} and {len(names) - _MAX_EVENTS} more"


def _list_shell_hooks(config: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield a line for each shell hook of the user and of the project."""
    from amplifier_modules.hooks.project_answers import read_answers
    from amplifier_modules.hooks.shell import ShellHookSettings, read_hooks_of_user
    from amplifier_modules.hooks.shell.agreements import find_answers, hash_hook, read_project_hooks
    from amplifier_modules.sandbox.named_files import NamedFileError
    from amplifier_providers.settings import SettingError, read_settings

    def write(whose: str, event: str, matcher: str, command: str) -> str:
        about = f" ({matcher})" if matcher else ""
        return show_line(f"shell hook, {whose}, {event}{about}: {command}")

    try:
        settings = read_settings(ShellHookSettings, dict(config), _NAME)
        of_user = read_hooks_of_user(settings).hooks
    except SettingError as error:
        yield show_line(f"warning: {error}")
        return
    for each in of_user:
        yield write("yours", each.event, each.matcher, each.command)
    if not settings.project_hooks:
        return
    project, state = (folder / settings.root.expanduser()).resolve(), settings.state_folder
    answers = {} if state is None else read_answers(project, find_answers(state))
    words = {None: "not asked", True: "agreed", False: "not agreed"}
    for each in read_project_hooks(project).hooks:
        try:
            agreed = words[answers.get(hash_hook(each, project))]
        except NamedFileError as error:
            agreed = f"never runs, {error}"
        yield write(f"of the project: {agreed}", each.event, each.matcher, each.command)


HOOKS = Command(
    name="/hooks",
    brief="what runs at events",
    about="List shell hooks with whose they are, then what modules of the session hear of which events.",
    group=Group.TOOLS,
    run=_show_hooks,
)
