"""`amplifier-core mcp`: which MCP servers there are, and whether they answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from typing_extensions import override

from amplifier_app.commands.mcp.login_command import login, logout
from amplifier_app.commands.ordered_group import OrderedGroup

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_app.commands.report import Report

_EXAMPLES = """\
\b
Examples:
  amplifier-core mcp add files npx -y @modelcontextprotocol/server-filesystem .
  amplifier-core mcp add db --env 'DB_URL=${DB_URL}' uvx mcp-server-postgres
  amplifier-core mcp add tickets https://mcp.example.com/mcp \\
      --header 'Authorization: Bearer ${TICKETS_TOKEN}'
  amplifier-core mcp test files
  amplifier-core mcp list
"""


@click.group(cls=OrderedGroup, epilog=_EXAMPLES, invoke_without_command=True)
@click.pass_context
def mcp(context: click.Context) -> None:
    """Keep, list and test MCP servers.

    Your own servers are in the file `mcp.json` of the config folder, and each session has them. Those of
    a project, in its file `.mcp.json`, are connected after you have agreed to each.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


class _AddCommand(click.Command):
    """Takes options before the command of a server, and leaves those of that command alone."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = [
            name
            for each in self.params
            if isinstance(each, click.Option) and not each.is_flag
            for name in each.opts
        ]
        words, place = 0, 0
        while place < len(args) and args[place] != "--":
            if args[place].startswith("-"):
                place += args[place] in with_value
            else:
                words += 1
                if words == 2:
                    is_address = args[place].startswith(("http://", "https://"))
                    args = args if is_address else [*args[:place], "--", *args[place:]]
                    break
            place += 1
        return super().parse_args(ctx, args)


def _add_folder(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "-C",
        "--directory",
        default=".",
        metavar="FOLDER",
        help="The folder of the project.  [default: the current folder]",
    )(command)


def _add_json(command: Callable[..., Any]) -> Callable[..., Any]:
    text = "Write one JSON object, also for a failure."
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


@mcp.command("add", cls=_AddCommand)
@click.argument("name")
@click.argument("server", nargs=-1, required=True, metavar="COMMAND-OR-URL [ARGS]...")
@click.option(
    "--env",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variable that the server gets; may be repeated.",
)
@click.option(
    "--header",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header of each request to an address; may be repeated.",
)
def add(name: str, server: tuple[str, ...], env: tuple[str, ...], header: tuple[str, ...]) -> int:
    """Add a server of yours, which each session has.

    Options come before the command of the server. `${VAR}` in a value, in single quotes, is replaced
    when the server is connected, so that no secret is in the file.
    """
    from amplifier_app.commands.mcp.change import add_server
    from amplifier_app.commands.report import Report

    return Report().run_command(lambda report: add_server(report, name, server, env, header))


@mcp.command("list", short_help="List your servers and those of the project.")
@_add_folder
@_add_json
def list_(directory: str, as_json: bool) -> int:
    """List your servers and those of the project, and whether they are connected.

    `enabled` and `agreed` ones are. `not asked` and `not agreed` say that the project has a server that you
    have not agreed to, `left out` that you have one of the same name.
    """
    from amplifier_app.commands.mcp.list import write_servers

    return _run(directory, write_servers, as_json=as_json)


@mcp.command("remove")
@click.argument("name")
@_add_folder
def remove(name: str, directory: str) -> int:
    """Remove a server of yours."""
    from amplifier_app.commands.mcp.change import remove_server

    return _run(directory, lambda report, folder: remove_server(report, name, folder))


@mcp.command("test", short_help="Connect a server, and list what it offers.")
@click.argument("name")
@click.option("--debug", is_flag=True, help="Write a log, and tracebacks for errors.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 600),
    default=60.0,
    metavar="SECONDS",
    help="How long the server may take to start.  [default: 60]",
)
@click.option(
    "--network",
    "hosts",
    multiple=True,
    metavar="HOST",
    help="A host that a server of the project reaches from the sandbox; may be repeated.",
)
@_add_folder
@_add_json
def test(
    name: str, directory: str, hosts: tuple[str, ...], timeout: float, as_json: bool, debug: bool
) -> int:
    """Connect a server, list its tools, prompts and resources, and say how long that took.

    The exit code is 1 if it does not answer.
    """
    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"
    from amplifier_app.commands.mcp.trial import try_server

    return _run(
        directory,
        lambda report, folder: try_server(report, name, folder, timeout, hosts),
        as_json=as_json,
    )


@mcp.command("ask", short_help="Ask about the servers of the project.")
@_add_folder
def ask(directory: str) -> int:
    """Ask about the servers of the project, also about those that you did not agree to."""
    from amplifier_app.commands.mcp.ask import ask_again

    return _run(directory, ask_again)


mcp.add_command(login)
mcp.add_command(logout)


def _run(directory: str, command: Callable[[Report, Path], None], *, as_json: bool = False) -> int:
    """Run what is about the servers in a folder."""
    from amplifier_app.commands.order import named_folder
    from amplifier_app.commands.report import Report

    return Report(as_json=as_json).run_command(
        lambda report: command(report, named_folder(directory))
    )
