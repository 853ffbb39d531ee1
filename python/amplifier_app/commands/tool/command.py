"""The command line of `amplifier-core tool`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from amplifier_app.commands.module_options import add_module_options
from amplifier_app.commands.ordered_group import OrderedGroup

if TYPE_CHECKING:
    from amplifier_app.commands.tool.tool_session import ToolOrder

_EXAMPLES = """\
\b
Examples:
  amplifier-core tool list
  amplifier-core tool invoke grep pattern=TODO
  amplifier-core tool invoke files__read_text_file path=README.md
  amplifier-core tool invoke bash --input '{"command": "git status"}' --json
"""

Command = TypeVar("Command", bound=Callable[..., object])


@click.group(cls=OrderedGroup, epilog=_EXAMPLES, invoke_without_command=True)
@click.pass_context
def tool(context: click.Context) -> None:
    """List the tools of a session, and call one without a model."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _add_options(command: Command) -> Command:
    """Add what says which tools there are."""
    servers = click.option(
        "--mcp-config",
        "server_files",
        multiple=True,
        metavar="FILE",
        help="Have the MCP servers of a file with `mcpServers`, too; may be repeated.",
    )
    folder = click.option(
        "-C",
        "--directory",
        metavar="FOLDER",
        default=".",
        show_default="the current folder",
        help="The folder that the tools work in.",
    )
    return folder(servers(add_module_options(command)))


@tool.command("list")
@_add_options
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def list_(
    directory: str,
    server_files: tuple[str, ...],
    modules: tuple[str, ...],
    plan: str | None,
    as_json: bool,
) -> int:
    """List the tools of a session: name, from where, and what each does.

    The MCP servers of the session are connected for it, where their tools are not known.
    """
    from amplifier_app.commands.report import Report

    def run(report: Report) -> None:
        from amplifier_app.commands.tool.list import write_tools

        write_tools(report, _make_order(directory, server_files, modules, plan, None))

    return Report(as_json=as_json).run_command(run)


@tool.command("invoke")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]…")
@click.option("--input", "given", metavar="JSON", help="All arguments, as a JSON object.")
@click.option(
    "--mode",
    type=click.Choice(["auto", "ask", "review", "read-only"]),
    help="What runs without a question, as for `run`.",
)
@_add_options
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def invoke(
    name: str,
    arguments: tuple[str, ...],
    given: str | None,
    mode: str | None,
    directory: str,
    server_files: tuple[str, ...],
    modules: tuple[str, ...],
    plan: str | None,
    as_json: bool,
) -> int:
    """Call a tool as a turn does, through hooks, guard, sandbox and questions; no model is asked.

    The values are read as the types that the tool declares. Nothing of the call is stored. The exit
    code is 1 where the call fails or is denied.
    """
    from amplifier_app.commands.report import Report

    codes: list[int] = []

    def run(report: Report) -> None:
        from amplifier_app.commands.tool.invoke import invoke_tool

        order = _make_order(directory, server_files, modules, plan, mode)
        codes.append(invoke_tool(report, order, name, arguments, given))

    return Report(as_json=as_json).run_command(run) or codes[0]


def _make_order(
    directory: str,
    server_files: tuple[str, ...],
    modules: tuple[str, ...],
    plan: str | None,
    mode: str | None,
) -> ToolOrder:
    from amplifier_app.commands.named_modules import named_modules
    from amplifier_app.commands.order import named_folder, named_server_files
    from amplifier_app.commands.tool.tool_session import ToolOrder
    from amplifier_app.configuration.resolve import read_configuration

    configuration = read_configuration(os.environ)
    plan = configuration.get("plan", plan)
    modules = (*configuration.list_modules(), *modules)
    folder = named_folder(directory)
    configuration.apply_to(folder, os.environ)
    usual = configuration.get("mode", mode)
    return ToolOrder(
        folder,
        named_modules(modules, plan) if modules or plan else None,
        # Nobody can present a plan here.
        "read-only" if usual == "plan" else usual,
        named_server_files(server_files),
    )
