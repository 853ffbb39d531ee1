"""`/mcp`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown
from amplifier_app.line_input.candidate import Candidate
from amplifier_core.session_capabilities import MCP_SERVERS


async def _show_servers(context: CommandContext, name: str) -> Shown:
    """Show where the servers are; a conversation begins where none has.

    Raises:
        Failure: There is no such server, or it does not say what it has.
        Exception: What keeps a session from starting.
    """
    from amplifier_app.commands.chat.server_states import write_states

    if context.turns.running is None:
        await context.turns.begin()
    return await write_states(name, context.turns.find_capability(MCP_SERVERS))


def _complete_servers(context: CommandContext, _: str) -> Iterator[Candidate]:
    from amplifier_app.commands.chat.server_states import describe_state

    servers: Any = context.turns.find_capability(MCP_SERVERS)
    for status in () if servers is None else servers.list_states():
        yield Candidate(status.name, describe_state(status))


MCP = Command(
    name="/mcp",
    usage="[NAME]",
    brief="servers and their tools",
    about="Show the MCP servers; with a name, the tools, prompts and resources of one.",
    group=Group.TOOLS,
    run=_show_servers,
    complete=_complete_servers,
)
