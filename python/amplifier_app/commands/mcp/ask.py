"""`amplifier-core mcp ask`: asks about the servers of the project, also about those that were denied."""

from __future__ import annotations

import os
from pathlib import Path

from amplifier_app.approval import TerminalApproval, can_ask
from amplifier_app.commands.mcp.listed_servers import list_servers
from amplifier_app.commands.project_servers import ask_about_server
from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_modules.running.user_folders import find_state_folder
from amplifier_modules.tools.mcp.project.project_servers import ProjectEntry


def ask_again(report: Report, project: Path) -> None:
    """Ask about each server of a project that the user has not agreed to.

    Args:
        report: Takes what came of it.
        project: The project, links followed.

    Raises:
        Failure: Nobody can be asked, or the project has no servers.
    """
    import asyncio

    servers, problems = list_servers(project)
    for problem in problems:
        show_notice(f"warning: {problem}")
    of_project = [each for each in servers if isinstance(each.entry, ProjectEntry)]
    if not of_project:
        raise Failure("the project has no MCP servers that could be connected")
    state = find_state_folder(os.environ)
    if not can_ask() or state is None:
        raise Failure("nobody can be asked", hint="run it in a terminal", exit_code=WRONG_USAGE)

    async def ask() -> None:
        approval = TerminalApproval()
        for each in of_project:
            if isinstance(each.entry, ProjectEntry) and each.state in ("not asked", "not agreed"):
                await ask_about_server(each.entry, project, state, approval)

    asyncio.run(ask())
    for each in list_servers(project)[0]:
        if isinstance(each.entry, ProjectEntry):
            report.write_lines([f"{each.entry.name}: {each.state}"])
