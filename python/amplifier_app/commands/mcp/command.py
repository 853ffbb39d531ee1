"""`amplifier-core mcp`: which MCP servers there are, and whether they answer."""

from __future__ import annotations

import click

from amplifier_app.commands.mcp.login_command import login, logout
from amplifier_app.commands.ordered_group import OrderedGroup


@click.group(cls=OrderedGroup, invoke_without_command=True)
@click.pass_context
def mcp(context: click.Context) -> None:
    """Keep, list and test MCP servers."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


mcp.add_command(login)
mcp.add_command(logout)
