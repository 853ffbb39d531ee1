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
    rules: Sequence[Any] = policy.rules
    lines = [show_line(f"mode: {policy.mode}")]
    lines += [_write_rule(each) for name in _ACTIONS for each in rules if each.action == name]
    if not rules:
        lines.append("there are no rules")
    lines += [
        show_line(f"granted {'to a sub-agent' if is_sub_agent else 'in this session'}: {tool}")
        for tool, is_sub_agent in policy.granted_tools
    ]
    config = conversation.find_config(_NAME) or {}
    folder = context.turns.order.folder
    return [*lines, *await asyncio.to_thread(lambda: [*_compare_files(rules, config, folder)])]


def _write_rule(rule: Any) -> str:
    problem = f", {rule.problem}" if rule.problem else ""
    return show_line(f"{rule.action} {rule.text} ({_write_place(rule.place)}{problem})")


def _compare_files(rules: Sequence[Any], config: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield what is wrong with the files of rules, and whether they have others than the session."""
    from amplifier_modules.hooks.approval import ApprovalSettings
    from amplifier_modules.hooks.approval.rule_set import GRANTED, read_places
    from amplifier_providers.settings import read_settings

    settings = read_settings(ApprovalSettings, dict(config), _NAME)
    root = folder if settings.root is None else folder / settings.root.expanduser()
    known = {(each.action, each.text, each.place) for each in rules if each.place != GRANTED}
    # What was granted in the session is in the file of the user since then.
    granted = {("allow", each.text) for each in rules if each.place == GRANTED}
    found: set[tuple[str, str, str]] = set()
    for written, place, _ in read_places(settings, root.resolve()):
        yield from (show_line(f"warning: {each}") for each in written.problems)
        for action in _ACTIONS:
            found |= {(action, each, place) for each in getattr(written, action)}
    if known - found or {each for each in found - known if each[:2] not in granted}:
        yield "the files have other rules by now, which count from the next session on"


_ACTIONS = ("deny", "ask", "allow")
"""In the order in which they count."""


def _write_place(place: str) -> str:
    home = os.path.expanduser("~")
    return f"~{place[len(home) :]}" if place.startswith(f"{home}{os.sep}") else place


PERMISSIONS = Command(
    name="/permissions",
    brief="mode, rules and grants",
    about="Show the mode, the rules that the session has with where each is from, and what you granted"
    " in it.",
    group=Group.ALLOWED,
    run=_show_permissions,
)
