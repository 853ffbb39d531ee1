"""The command line of `amplifier-core serve` and `serve token`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_app.commands.ordered_group import OrderedGroup
from amplifier_app.commands.serve.store_option import add_store_option

if TYPE_CHECKING:
    from amplifier_app.commands.report import Report

_PORT = 8790
_EPILOG = """\
\b
Examples:
  amplifier-core serve token add ann
  amplifier-core serve --folder ~/projects
  amplifier-core serve --host 0.0.0.0 --allow-name agents.example.org
Without tokens it makes one for as long as it runs, if no other machine can reach it.
"""


@click.group(cls=OrderedGroup, epilog=_EPILOG, invoke_without_command=True)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; another address than that of this machine needs tokens.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="The port; 0 is a free one.",
)
@add_store_option
@click.option(
    "--folder",
    "folders",
    multiple=True,
    metavar="FOLDER",
    help="Clients may begin sessions in it and in what is in it; may be repeated. Without it they"
    " begin them in the folders of the agents alone.",
)
@click.option(
    "--allow-name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A name by which clients reach the server, beside those of this machine; may be repeated.",
)
@click.option("--token-file", metavar="FILE", help="The tokens.  [default: in the state folder]")
@click.option("-v", "--verbose", is_flag=True, help="Write a log to standard error.")
@click.option("--debug", is_flag=True, help="Write a detailed log, and tracebacks for errors.")
@click.pass_context
def serve(
    context: click.Context,
    host: str,
    port: int,
    place: str | None,
    folders: tuple[str, ...],
    names: tuple[str, ...],
    token_file: str | None,
    verbose: bool,
    debug: bool,
) -> int | None:
    """Serve sessions over HTTP: clients send prompts, and follow what workers make of them."""
    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"
    context.obj = token_file
    if context.invoked_subcommand is not None:
        return None
    from amplifier_app.commands.report import Report

    def run(report: Report) -> None:
        from amplifier_app.commands.serve.serving import serve_sessions
        from amplifier_app.commands.start import set_up_logging

        set_up_logging(verbose=verbose)
        serve_sessions(report, host, port, place, folders, names, token_file)

    return Report().run_command(run)


@serve.group("token", cls=OrderedGroup)
def change_tokens() -> None:
    """Add, list and remove the bearer tokens of owners."""


@change_tokens.command("add")
@click.argument("owner")
@click.pass_context
def add(context: click.Context, owner: str) -> int:
    """Make a token for OWNER, whose sessions it reaches; it is shown this once."""

    def run(report: Report) -> None:
        token, known = _open_file(context.obj).add(owner)
        # Not by the report, which hides what looks like a secret.
        click.echo(token)
        report.say_aside(f"token {known.id} of `{owner}`; it cannot be shown again")

    return _run(run)


@change_tokens.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def list_(context: click.Context, as_json: bool) -> int:
    """List the ids and owners of the tokens."""

    def run(report: Report) -> None:
        from amplifier_app.columns import in_columns
        from amplifier_app.printable import printable_line
        from amplifier_app.sessions.age import write_age

        found = _open_file(context.obj).list_tokens()
        if as_json:
            rows = [{"id": each.id, "owner": each.owner, "added": each.added} for each in found]
            report.write_list(rows)
            return
        shown = [(each.id, printable_line(each.owner), write_age(each.added)) for each in found]
        report.write_lines(in_columns(shown, report.width) if shown else ["there are no tokens"])

    return _run(run, as_json=as_json)


@change_tokens.command("remove")
@click.argument("name", metavar="ID|OWNER")
@click.pass_context
def remove(context: click.Context, name: str) -> int:
    """Remove the token with this id, or all of this owner; servers refuse it at once."""

    def run(report: Report) -> None:
        removed = _open_file(context.obj).remove(name)
        report.write_lines([f"removed {each.id} of `{each.owner}`" for each in removed])

    return _run(run)


def _open_file(file: str | None) -> Any:
    from amplifier_serve.http.tokens import TokenFile, find_token_file

    return TokenFile(find_token_file(os.environ) if file is None else Path(file).expanduser())


def _run(command: Any, *, as_json: bool = False) -> int:
    from amplifier_app.commands.report import Report

    def run(report: Report) -> None:
        from amplifier_app.failure import Failure
        from amplifier_app.outcome import WRONG_USAGE
        from amplifier_serve.http.tokens import TokenFileError

        try:
            command(report)
        except TokenFileError as error:
            raise Failure(str(error), hint="check `--token-file`") from error
        except (LookupError, ValueError) as error:
            raise Failure(str(error.args[0]), exit_code=WRONG_USAGE) from error

    return Report(as_json=as_json).run_command(run)
