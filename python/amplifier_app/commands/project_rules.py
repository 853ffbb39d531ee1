"""What a project allows by its own rules: nothing, until the user agrees to exactly that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_app.approval import TerminalApproval, can_ask
from amplifier_app.commands.mount_plan import APPROVAL
from amplifier_app.notice import show_notice
from amplifier_core.approval import is_consent


async def ask_about_project_rules(
    plan: Mapping[str, Any], folder: Path, approval: TerminalApproval
) -> None:
    """Ask in the terminal whether what a project allows may count, once for each list of rules.

    Args:
        plan: The mount plan of the session.
        folder: The project.
        approval: What asks.
    """
    from amplifier_modules.hooks.approval.rule_files import (
        is_trusted,
        read_project_rules,
        remember_trust,
    )

    entries: list[dict[str, Any]] = [each for each in plan["hooks"] if each["module"] == APPROVAL]
    config: Mapping[str, Any] = (entries[0].get("config") or {}) if entries else {}
    if not config.get("project_rules") or not config.get("state_folder"):
        return
    project, state = folder.resolve(), Path(config["state_folder"])  # noqa: ASYNC240
    allow = read_project_rules(project).allow
    if not allow or is_trusted(project, allow, state) is not None:
        return
    if not can_ask():
        show_notice("what `.claude` of this folder allows does not count until you agree to it")
        return
    is_agreed = await _ask(allow, approval)
    try:
        remember_trust(project, allow, state, trusted=is_agreed)
    except OSError as error:
        show_notice(f"warning: your answer cannot be kept: {error}")


async def _ask(allow: list[str], approval: TerminalApproval) -> bool:
    from amplifier_guard.question import quote_value

    rows = [
        "the project allows these calls without a question: may they count?",
        *(f"| {quote_value(rule)}" for rule in allow),
    ]
    answer = await approval.request_approval("\n".join(rows), ["Allow", "Deny"], math.inf, "deny")
    return is_consent(answer)
