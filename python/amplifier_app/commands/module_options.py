"""The options that name modules and MCP servers, of each command that has some."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])


def add_module_options(command: Command) -> Command:
    """Add `--module` and `--plan`, as the parameters `modules` and `plan`."""
    plan = click.option(
        "--plan",
        metavar="FILE",
        help="Mount the modules of a mount plan, a `.toml` or `.json` file.",
    )
    modules = click.option(
        "--module",
        "modules",
        multiple=True,
        metavar="NAME[=JSON]",
        help="Mount a module, with a config; may be repeated. See `amplifier-core list-modules`.",
    )
    return modules(plan(command))


def add_server_files(command: Command) -> Command:
    """Add `--mcp-config`, as the parameter `server_files`."""
    servers = click.option(
        "--mcp-config",
        "server_files",
        multiple=True,
        metavar="FILE",
        help="Connect the MCP servers of a file in the form of `mcpServers`; may be repeated.",
    )
    return servers(command)
