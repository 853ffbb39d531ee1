"""Which servers a session has: those of its settings, of files of the user, and of the project."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_modules.hooks.project_answers import read_answers
from amplifier_providers.settings import SettingError

from .server_entry import ServerEntry, read_entries
from .server_files import ServerFileError, read_server_file
from .settings import McpSettings, ServerSettings

logger = logging.getLogger(__name__)

NAME = "tool-mcp"


@dataclass
class SessionServers:
    """The servers that are connected, and what is wrong with others of the project."""

    entries: list[ServerEntry]
    problems: list[str] = field(default_factory=list[str])


def collect_servers(settings: McpSettings, working: Path) -> SessionServers:
    """Return the servers that are connected; reads files, and warns of those that nobody agreed to.

    Args:
        settings: Where they are written.
        working: The folder that the session works in.

    Raises:
        SettingError: A file of the user cannot be used.
    """
    named: dict[str, ServerSettings] = {}
    for path in settings.server_files:
        try:
            named |= read_server_file(path)
        except (OSError, ServerFileError) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"{NAME}: the file `{path}` cannot be used: {reason}"
            raise SettingError(message, module=NAME, key="server_files") from error
    named |= settings.servers
    entries = read_entries(named)
    for entry in entries:
        for key in entry.unknown_keys:
            logger.warning(
                "%s ignores the unknown key `%s` of the server `%s`", NAME, key, entry.name
            )
    servers = SessionServers(entries)
    if settings.project_servers:
        _add_agreed(servers, settings, working.resolve(), named)
    return servers


def _add_agreed(
    servers: SessionServers, settings: McpSettings, project: Path, taken: Collection[str]
) -> None:
    """Add the servers of the project that the user agreed to."""
    # Late, as most sessions have none: they run in a sandbox, whose parts take a while to import.
    from .project.project_servers import PROJECT_FILE, find_answers, read_project_servers

    found = read_project_servers(project, settings.network)
    servers.problems += found.problems
    state = settings.state_folder
    answers = {} if state is None else read_answers(project, find_answers(state))
    unanswered: list[str] = []
    for entry in found.entries:
        if entry.name in taken:
            servers.problems.append(
                f"the server `{entry.name}` of `{PROJECT_FILE}` is left out, as you have one of this name"
            )
        elif answers.get(entry.digest):
            servers.entries.append(entry)
        elif entry.digest not in answers:
            unanswered.append(f"`{entry.name}`")
    if unanswered:
        logger.warning("%s: %s", NAME, describe_unanswered(unanswered))


def describe_unanswered(names: Collection[str]) -> str:
    """Return a line about servers of a project that nobody was asked about, and what to do."""
    is_one = len(names) == 1
    return (
        f"the MCP server{'' if is_one else 's'} {', '.join(names)} of `.mcp.json`"
        f" {'is' if is_one else 'are'} not connected until you agree: run `amplifier-core mcp ask`"
        " in its folder"
    )
