"""`amplifier-core mcp list`: the servers of the user, and those of the project."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from amplifier_app.columns import in_columns
from amplifier_app.commands.mcp.listed_servers import ListedServer, list_servers
from amplifier_app.commands.report import Report, write_foreign
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import show_notice


def write_servers(report: Report, folder: Path) -> None:
    """Write which servers there are, and whether a session connects them; connects none.

    Raises:
        Failure: The file of the user cannot be used.
    """
    servers, problems = list_servers(folder)
    for each in servers:
        SECRETS.learn({"server": each.entry.settings.model_dump(exclude_none=True)})
    if report.as_json:
        described = [_describe_server(each) for each in servers]
        report.write_data({"servers": described, "problems": problems})
        return
    rows = [("NAME", "FROM", "STATE", "SERVER")]
    rows += [(each.entry.name, each.origin, each.state, describe_place(each)) for each in servers]
    if servers:
        report.write_lines(in_columns(rows, report.width))
    else:
        report.say_aside("there are no servers: `amplifier-core mcp add NAME COMMAND` adds one")
    for problem in problems:
        show_notice(f"warning: {problem}")
    if any(each.state in ("not asked", "not agreed") for each in servers):
        report.say_aside("`amplifier-core mcp ask` asks about those of the project")


def describe_place(server: ListedServer) -> str:
    """Return the command or the address of a server, without what may be a secret in it."""
    settings = server.entry.settings
    if settings.url is None:
        return write_foreign(shlex.join([settings.command or "", *settings.args]))
    return write_foreign(_strip_address(settings.url))


def _strip_address(url: str) -> str:
    """Return an address without its user and its query."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"


def _describe_server(server: ListedServer) -> dict[str, Any]:
    entry = server.entry
    settings = entry.settings
    return {
        "name": entry.name,
        "from": server.origin,
        "state": server.state,
        "connected": server.is_connected,
        "command": settings.command,
        "args": list(settings.args),
        "url": None if settings.url is None else _strip_address(settings.url),
        "env": sorted(settings.env),
        "headers": sorted(settings.headers),
        "variables": entry.variables,
    }
