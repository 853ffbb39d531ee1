"""What `/mcp` shows: the state of each MCP server, or all that one of them has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.chat.server_prompts import name_commands, write_usage
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_providers.running.count_noun import count_noun

if TYPE_CHECKING:
    from amplifier_modules.tools.mcp import ServerContents, ServerStatus

_NO_SERVERS = "there are no MCP servers; `amplifier-core mcp add` adds one"
_MAX_CHARS = 300
_MAX_ROWS = 50
_MAX_WIDTH = 40


async def write_states(name: str, servers: Any) -> list[str]:
    """Return a line for each server, or lines about one; they are safe to show.

    Args:
        name: The one that it is about; empty for all.
        servers: The `Servers` of a session; None without any.

    Raises:
        Failure: There is no such server, or it does not say what it has.
    """
    if servers is None or not servers.servers:
        return [_NO_SERVERS]
    servers.start()
    states: list[ServerStatus] = servers.list_states()
    if not name:
        width = min(_MAX_WIDTH, max(len(each.name) for each in states))
        return [_write_row(each.name, describe_state(each), width) for each in states]
    status = next((each for each in states if each.name == name), None)
    if status is None:
        hint = f"there are {', '.join(f'`{each.name}`' for each in states)}"
        raise Failure(f"there is no MCP server `{name}`", hint=hint)
    from amplifier_modules.tools.mcp.server_errors import ServerError

    try:
        contents: ServerContents = await servers.list_contents(name)
    except ServerError as error:
        raise Failure(f"the MCP server `{name}`: {error}") from error
    prompts = {
        write_usage(*each): each[1].description for each in name_commands(contents.prompts).items()
    }
    return [
        _write_row(name, describe_state(status)),
        *_write_rows("tools", dict(contents.tools)),
        *_write_rows("prompts", prompts),
        *_write_rows("resources", dict(contents.resources)),
    ]


def describe_state(status: ServerStatus) -> str:
    """Return where a server is, in a few words."""
    line = status.state.value
    if status.tools or line == "connected":
        line += f", {count_noun(status.tools, 'tool')}"
    if status.problem:
        line += f": {status.problem}"
    if status.retry_seconds is not None:
        line += f"; tried again in {max(1, round(status.retry_seconds))} s"
    return line


def _write_rows(title: str, rows: Mapping[str, str]) -> Iterator[str]:
    if not rows:
        return
    yield f"{title}:"
    width = min(_MAX_WIDTH, max(map(len, rows)))
    for number, (name, about) in enumerate(rows.items()):
        if number == _MAX_ROWS:
            yield f"  and {len(rows) - number} more"
            return
        yield f"  {_write_row(name, about, width)}"


def _write_row(name: str, about: str, width: int = 0) -> str:
    shown, what = (SECRETS.write_line(each, _MAX_CHARS) for each in (name, about))
    return f"{shown:<{width}}  {what}".rstrip()
