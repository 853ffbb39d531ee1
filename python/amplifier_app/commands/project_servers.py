"""The MCP servers of a project: none is connected until the user agrees to exactly it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.approval import TerminalApproval, can_ask
from amplifier_app.commands.mount_plan import SERVERS
from amplifier_app.notice import show_notice
from amplifier_core.approval import is_consent

if TYPE_CHECKING:
    from amplifier_modules.tools.mcp.project.project_servers import ProjectEntry


async def ask_about_project_servers(
    plan: Mapping[str, Any], folder: Path, approval: TerminalApproval
) -> None:
    """Ask in the terminal whether servers of a project may be connected, once about each.

    Args:
        plan: The mount plan of the session.
        folder: The project.
        approval: What asks.
    """
    entries: list[dict[str, Any]] = [each for each in plan["tools"] if each["module"] == SERVERS]
    config: Mapping[str, Any] = (entries[0].get("config") or {}) if entries else {}
    if not config.get("project_servers") or not config.get("state_folder"):
        return
    from amplifier_modules.hooks.project_answers import read_answers
    from amplifier_modules.tools.mcp.project.project_servers import (
        find_answers,
        read_project_servers,
    )
    from amplifier_modules.tools.mcp.session_servers import describe_unanswered

    project, state = folder.resolve(), Path(config["state_folder"])  # noqa: ASYNC240
    answers = read_answers(project, find_answers(state))
    taken = _list_own_names(config)
    found = read_project_servers(project).entries  # the module says what is wrong with others
    unanswered = [each for each in found if not (each.name in taken or each.digest in answers)]
    if not unanswered:
        return
    if not can_ask():
        show_notice(describe_unanswered([f"`{each.name}`" for each in unanswered]))
        return
    for each in unanswered:
        await ask_about_server(each, project, state, approval)


def _list_own_names(config: Mapping[str, Any]) -> set[str]:
    """Return the names of the user's servers, which those of a project do not take."""
    from amplifier_modules.tools.mcp.server_files import ServerFileError, read_server_file

    names: set[str] = set(config.get("servers") or ())
    for path in config.get("server_files") or ():
        with contextlib.suppress(OSError, ServerFileError):  # the module says so
            names |= read_server_file(Path(path)).keys()
    return names


async def ask_about_server(
    entry: ProjectEntry, project: Path, state: Path, approval: TerminalApproval
) -> bool:
    """Ask about one server, and remember the answer.

    Args:
        entry: The server.
        project: The project, links followed.
        state: The folder of what is remembered.
        approval: What asks.
    """
    from amplifier_modules.hooks.project_answers import remember_answers
    from amplifier_modules.tools.mcp.project.project_servers import find_answers

    prompt = "\n".join(_describe_entry(entry))
    is_agreed = is_consent(
        await approval.request_approval(prompt, ["Allow", "Deny"], math.inf, "deny")
    )
    try:
        remember_answers([entry.digest], project, find_answers(state), agreed=is_agreed)
    except OSError as error:
        show_notice(f"warning: your answer cannot be kept: {error}")
    return is_agreed


def _describe_entry(entry: ProjectEntry) -> Iterator[str]:
    """Yield a question about a server, and a line for each thing that it would do or get."""
    from amplifier_guard.question import quote_value

    settings = entry.settings
    if settings.url is not None:
        does = "may it be connected, until it changes?"
    elif entry.is_confined:
        does = "may it be started, in the sandbox, until it changes?"
    else:
        does = "may it be started, without a sandbox, with all of your rights, until it changes?"
    yield f"the project has the MCP server {quote_value(entry.name)}: {does}"
    if settings.url is not None:
        yield f"| address: {quote_value(settings.url)}"
        for name, value in settings.headers.items():
            yield f"| header {quote_value(name)}: {quote_value(value)}"
    else:
        yield f"| command: {quote_value(settings.command)}"
        for each in settings.args:
            yield f"|   {quote_value(each)}"
        if settings.cwd is not None:
            yield f"| folder: {quote_value(settings.cwd)}"
        for name, value in settings.env.items():
            yield f"| variable {quote_value(name)}: {quote_value(value)}"
    for name in entry.variables:
        yield f"| gets your {quote_value(name)}"
    for path in entry.list_files():
        yield f"| file of the project: {quote_value(path)}"
