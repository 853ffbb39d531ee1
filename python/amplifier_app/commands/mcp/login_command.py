"""`amplifier-core mcp login` and `amplifier-core mcp logout`, as they are called."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click


def _add_shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--debug", is_flag=True, help="Write a log, and tracebacks for errors."),
        click.option(
            "--mcp-config",
            "files",
            multiple=True,
            metavar="FILE",
            help="A file of servers to look in first; may be repeated.",
        ),
        click.option(
            "-C",
            "--directory",
            default=".",
            metavar="FOLDER",
            help="The folder of the project.  [default: the current folder]",
        ),
        click.argument("name", metavar="NAME"),
    ):
        command = option(command)
    return command


@click.command("login", short_help="Log in to a server, in the browser.")
@_add_shared_options
@click.option(
    "--no-browser", is_flag=True, help="Only write the address; what comes of it can be pasted."
)
@click.option(
    "--client-id",
    metavar="ID",
    help="The client that you have registered with the service, where it registers none by itself;"
    " its secret, if it has one, is taken from MCP_CLIENT_SECRET.",
)
@click.option(
    "--callback-port",
    "port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="PORT",
    help="The port of this machine that the browser is sent to.  [default: one that is free]",
)
@click.option(
    "--scope",
    default="",
    metavar="RIGHTS",
    help="Rights that you ask for beside those that the server names, with spaces between them.",
)
@click.option("--private-addresses", is_flag=True, help="The service may be in a private network.")
def login(
    name: str,
    files: tuple[str, ...],
    directory: str,
    no_browser: bool,
    client_id: str | None,
    port: int,
    scope: str,
    private_addresses: bool,
    debug: bool,
) -> int:
    """Log in to an MCP server that runs elsewhere, and keep its tokens.

    NAME is that of a server, or its address. The tokens are kept in the system keyring, or in a file
    that only you can read; sessions use and renew them.
    """
    _set_debug(debug)
    from amplifier_app.commands.mcp.login import keep_login
    from amplifier_app.commands.mcp.server_address import find_address
    from amplifier_app.commands.order import named_folder
    from amplifier_app.commands.report import Report

    return Report().run_command(
        lambda report: keep_login(
            report,
            find_address(name, files, named_folder(directory)),
            opens_browser=not no_browser,
            client_id=client_id,
            port=port,
            scope=scope,
            allows_private=private_addresses,
        )
    )


@click.command("logout", short_help="Forget the login to a server.")
@_add_shared_options
def logout(name: str, files: tuple[str, ...], directory: str, debug: bool) -> int:
    """Forget the login to an MCP server.

    NAME is that of a server, or its address. The tokens are revoked where the service takes that.
    """
    _set_debug(debug)
    from amplifier_app.commands.mcp.login import drop_login
    from amplifier_app.commands.mcp.server_address import find_address
    from amplifier_app.commands.order import named_folder
    from amplifier_app.commands.report import Report

    return Report().run_command(
        lambda report: drop_login(report, find_address(name, files, named_folder(directory)))
    )


def _set_debug(debug: bool) -> None:
    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"
