"""The MCP servers that a session in a folder would have, and where each comes from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from amplifier_app.commands.mcp.own_servers import find_own_file, read_own_servers
from amplifier_app.failure import Failure
from amplifier_modules.hooks.project_answers import read_answers
from amplifier_modules.running.user_folders import find_state_folder
from amplifier_modules.tools.mcp.project.project_servers import (
    ProjectEntry,
    find_answers,
    read_project_servers,
)
from amplifier_modules.tools.mcp.server_entry import ServerEntry
from amplifier_modules.tools.mcp.server_files import ServerFileError, read_server

State: TypeAlias = Literal["enabled", "disabled", "agreed", "not agreed", "not asked", "left out"]
"""Whether a server is connected: `enabled` and `agreed` ones are."""

_STATES: dict[bool | None, State] = {None: "not asked", True: "agreed", False: "not agreed"}


@dataclass(frozen=True)
class ListedServer:
    """A server, and whether it is connected."""

    entry: ServerEntry
    state: State

    @property
    def origin(self) -> Literal["you", "project"]:
        """Who has written it."""
        return "project" if isinstance(self.entry, ProjectEntry) else "you"

    @property
    def is_connected(self) -> bool:
        """Whether a session connects it."""
        return self.state in ("enabled", "agreed")


def list_servers(folder: Path, hosts: tuple[str, ...] = ()) -> tuple[list[ListedServer], list[str]]:
    """Return the servers of the user and of a project, and what is wrong with others.

    Args:
        folder: The project, links followed.
        hosts: What those of the project reach that run in the sandbox.

    Raises:
        Failure: The file of the user cannot be used.
    """
    path = find_own_file()
    listed: list[ListedServer] = []
    for name, written in read_own_servers(path).items():
        try:
            entry = ServerEntry(name, read_server(written))
        except ServerFileError as error:
            raise Failure(
                f"`{path}` cannot be used: the server `{name}`: {error}", hint="correct it"
            ) from error
        listed.append(ListedServer(entry, "disabled" if entry.settings.disabled else "enabled"))
    found = read_project_servers(folder, hosts)
    own = {each.entry.name for each in listed}
    answers = _read_answers(folder)
    for entry in found.entries:
        state = _STATES[answers.get(entry.digest)]
        listed.append(ListedServer(entry, "left out" if entry.name in own else state))
    return listed, found.problems


def _read_answers(folder: Path) -> dict[str, bool]:
    """Return what the user said about servers of a project, by their hashes."""
    state = find_state_folder(os.environ)
    return {} if state is None else read_answers(folder, find_answers(state))
