"""`/permissions`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line
from amplifier_app.commands.chat.slash.opened import open_conversation
from amplifier_core.session_capabilities import APPROVAL_POLICY

_NAME = "hooks-approval"


async def _show_permissions(context: CommandContext, _: str) -> Shown:
    """Show the mode, the rules and the grants.

    Raises:
        Exception: What keeps a session from starting.
    """
    conversation = await open_conversation(context)
    policy: Any = conversation.find_capability(APPROVAL_POLICY)
    if policy is None:
        return ["the session has no approvals: nothing is asked but what tools ask themselves"]
    lines = [show_line(f"mode: {policy.mode}")]
    config = conversation.find_config(_NAME) or {}
    folder = context.turns.order.folder
    rules = await asyncio.to_thread(lambda: [*_list_rules(config, folder)])
    kept: dict[str, Any] = policy.describe() or {}
    grants: list[str] = sorted({tool for _, tool in kept.get("grants", ())})
    lines += rules or ["there are no rules"]
    return [*lines, *(show_line(f"granted in this session: {each}") for each in grants)]


def _list_rules(config: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield a line for each rule, with where it is written; those that deny first."""
    from amplifier_modules.hooks.approval import ApprovalSettings
    from amplifier_modules.hooks.approval.rule_files import PROJECT_FILES, is_trusted, read_rules
    from amplifier_providers.settings import read_settings

    settings = read_settings(ApprovalSettings, dict(config), _NAME)
    root = folder if settings.root is None else folder / settings.root.expanduser()
    project = root.resolve()
    places: list[tuple[str, dict[str, Sequence[str]]]] = [
        ("the settings", {"deny": settings.deny, "ask": settings.ask, "allow": settings.allow})
    ]
    allowed: list[str] = []
    files = [] if settings.user_settings is None else [settings.user_settings]
    own = [project / name for name in PROJECT_FILES] if settings.project_rules else []
    for path in (*files, *own):
        rules = read_rules(path)
        places.append((_write_place(path), {name: getattr(rules, name) for name in _ACTIONS}))
        yield from (show_line(f"warning: {each}") for each in rules.problems)
        allowed += rules.allow if path in own else ()
    state = settings.state_folder
    is_agreed = state is not None and is_trusted(project, allowed, state) is True
    of_project = {_write_place(path) for path in own}
    for action in _ACTIONS:
        for place, found in places:
            waits = action == "allow" and place in of_project and not is_agreed
            for each in found[action]:
                note = _find_mistake(each, project, allows=action == "allow")
                if waits:
                    note = ", does not count: you have not agreed"
                yield show_line(f"{action} {each} ({place}{note})")


def _find_mistake(rule: str, project: Path, *, allows: bool) -> str:
    from amplifier_modules.hooks.approval.rules import RuleError, read_rule

    try:
        read_rule(rule, project, allows=allows)
    except RuleError:
        return ", not understood: it allows nothing" if allows else ", not understood: it asks"
    return ""


_ACTIONS = ("deny", "ask", "allow")
"""In the order in which they count."""


def _write_place(path: Path) -> str:
    home = os.path.expanduser("~")
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(f"{home}{os.sep}") else text


PERMISSIONS = Command(
    name="/permissions",
    brief="mode, rules and grants",
    about="Show the mode, the rules with where each is written, and what you granted in the session.",
    group=Group.ALLOWED,
    run=_show_permissions,
)
