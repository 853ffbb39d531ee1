"""`amplifier-core mcp serve`: the tools of the command, for the clients of others."""

from __future__ import annotations

import os
from contextlib import ExitStack

import click

from amplifier_app.commands.module_options import add_module_options
from amplifier_app.outcome import WRONG_USAGE

_EPILOG = """\
\b
Examples:
  claude mcp add amplifier -- amplifier-core mcp serve -C ~/src/app
  amplifier-core mcp serve --plan reviewers.toml
  amplifier-core mcp serve --http 8765 --token-file ~/.config/mcp-token

\b
Environment:
  AMPLIFIER_MCP_TOKEN  The bearer token of --http, unless --token-file is given.
                       Without either, one is made, and written to standard
                       error.
"""


@click.command(epilog=_EPILOG)
@click.option(
    "-C",
    "--directory",
    metavar="FOLDER",
    default=".",
    show_default="the current folder",
    help="The folder that the tools work in.",
)
@click.option(
    "--http",
    metavar="[HOST:]PORT",
    help="Serve at http://HOST:PORT/mcp, with a bearer token, instead of standard input and output."
    " HOST is 127.0.0.1, which only this machine reaches, unless it is named; port 0 is a free one.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="The file that has the bearer token; made if it is missing. Only you may be able to read it.",
)
@click.option(
    "--allow-name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A name by which clients reach --http, beside those of this machine; may be repeated.",
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "ask", "review", "read-only"]),
    help="What runs without a question to the person at the client, as for `run`.",
)
@add_module_options
@click.option("-v", "--verbose", is_flag=True, help="Write a log to standard error.")
@click.option("--debug", is_flag=True, help="Write a detailed log, and tracebacks for errors.")
def serve(
    directory: str,
    http: str | None,
    token_file: str | None,
    names: tuple[str, ...],
    mode: str | None,
    modules: tuple[str, ...],
    plan: str | None,
    verbose: bool,
    debug: bool,
) -> int:
    """Serve tools over MCP: those of the command, or those of a mount plan.

    Without --plan these are the files of the folder and commands in it. They run as in `run`: with
    the same guard, sandbox and questions, which go to the person at the client; where it can ask
    nobody the answer is no. Nothing but the protocol is written on standard output.
    """
    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"
    if http is None and (token_file or names):
        option = "--token-file" if token_file else "--allow-name"
        raise click.UsageError(f"`{option}` has no effect without `--http`")
    from amplifier_app.failure import Failure

    with ExitStack() as stack:
        try:
            from amplifier_agent.serving.standard_streams import take_standard_streams
        except ImportError as error:
            raise _report_missing(error) from error
        # First of all: whatever is imported from now on may print.
        streams = (
            None if http is not None else stack.enter_context(take_standard_streams(restores=False))
        )
        if http is None and streams is None:
            raise Failure(
                "standard input or output is closed",
                hint="a client starts this command; or use `--http`",
                exit_code=WRONG_USAGE,
            )
        try:
            from amplifier_app.commands.mcp.served_tools import Serving, serve_tools
        except ModuleNotFoundError as error:
            raise _report_missing(error) from error
        from amplifier_app.commands.named_modules import named_modules
        from amplifier_app.commands.order import named_folder
        from amplifier_app.commands.provider_key import with_stored_keys
        from amplifier_app.commands.start import set_up_logging
        from amplifier_app.configuration.resolve import read_configuration
        from amplifier_app.failure import show_uncaught

        show_uncaught()
        set_up_logging(verbose=verbose)
        configuration = read_configuration(os.environ)
        plan = configuration.get("plan", plan)
        modules = (*configuration.list_modules(), *modules)
        named = with_stored_keys(named_modules(modules, plan)) if modules or plan else None
        folder = named_folder(directory, may_be_missing=False)
        configuration.apply_to(folder, os.environ)
        usual = configuration.get("mode", mode)
        # Nobody can present a plan here.
        serving = Serving(folder, named, "read-only" if usual == "plan" else usual)
        return serve_tools(serving, streams, http, token_file, names)


def _report_missing(error: ImportError) -> Exception:
    from amplifier_app.failure import Failure

    return Failure(
        f"the package `{error.name or 'mcp'}` is missing",
        hint="install it: `pip install 'amplifier-core[mcp]'`",
    )
