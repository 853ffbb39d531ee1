"""`/doctor`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, show_line


async def _examine(context: CommandContext, _: str) -> Shown:
    """Return what `amplifier-core doctor` says; in a thread, as it reads files and the keyring."""
    return await asyncio.to_thread(_write_findings, context.turns.order.folder)


def _write_findings(folder: Path) -> list[str]:
    from amplifier_app.commands.doctor.checks import list_findings
    from amplifier_app.commands.doctor.report import describe_finding

    findings = [*list_findings(folder)]
    width = max((len(each.name) for each in findings), default=0)
    return [describe_finding(each, width, show_line) for each in findings]


DOCTOR = Command(
    name="/doctor",
    brief="what is missing",
    about="Show what is set up, what is missing, and what to do about it.",
    group=Group.MORE,
    run=_examine,
)
