"""The address of a server that a person names on the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_app.commands.settings import MCP_EXTRA, NO_MCP
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

if TYPE_CHECKING:
    from amplifier_modules.tools.mcp.server_entry import Address, ServerEntry


def find_address(name: str, files: Sequence[str], folder: Path) -> Address:
    """Return where a server is that runs elsewhere.

    Args:
        name: Its name, or its address.
        files: Files of servers to look in first; the last one that has it counts.
        folder: The project, whose servers a person has agreed to.

    Raises:
        Failure: There is none of this name, it is started here, or its entry cannot be used.
    """
    if find_spec("mcp") is None:
        raise Failure(NO_MCP, hint=MCP_EXTRA)
    from amplifier_modules.tools.mcp.server_entry import Address, EntryError

    entry = _make_entry(name) or _find_in_files(name, files) or _find_listed(name, folder)
    try:
        place = entry.resolve(os.environ, folder)
    except EntryError as error:
        raise Failure(f"the MCP server `{name}`: {error}", exit_code=WRONG_USAGE) from error
    if not isinstance(place, Address):
        raise Failure(f"the MCP server `{name}` is started here, and needs no login")
    return place


def _make_entry(name: str) -> ServerEntry | None:
    """Return the entry of an address; None for a name."""
    from amplifier_modules.tools.mcp.server_entry import ServerEntry
    from amplifier_modules.tools.mcp.settings import ServerSettings

    if not name.startswith(("https://", "http://")):
        return None
    return ServerEntry(name, ServerSettings(url=name))


def _find_in_files(name: str, files: Sequence[str]) -> ServerEntry | None:
    from amplifier_modules.tools.mcp.server_entry import ServerEntry
    from amplifier_modules.tools.mcp.server_files import ServerFileError, read_server_file

    found: ServerEntry | None = None
    for file in files:
        try:
            servers = read_server_file(Path(file))
        except (OSError, ServerFileError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Failure(f"`{file}` cannot be used: {reason}", exit_code=WRONG_USAGE) from error
        if name in servers:
            found = ServerEntry(name, servers[name])
    return found


def _find_listed(name: str, folder: Path) -> ServerEntry:
    from amplifier_app.commands.mcp.listed_servers import list_servers

    servers, problems = list_servers(folder)
    found = next((each for each in servers if each.entry.name == name), None)
    if found is None:
        hint = next(iter(problems), "see `amplifier-core mcp list`, or give its address")
        raise Failure(f"there is no MCP server `{name}`", hint=hint, exit_code=WRONG_USAGE)
    if found.state in ("not asked", "not agreed"):
        message = f"you have not agreed to the server `{name}` of the project"
        raise Failure(message, hint="`amplifier-core mcp ask` asks you")
    return found.entry
