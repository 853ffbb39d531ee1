"""The command line of `amplifier-core config`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from amplifier_app.commands.ordered_group import OrderedGroup

if TYPE_CHECKING:
    from amplifier_app.commands.report import Report


@click.group(cls=OrderedGroup, invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Show and change what counts without options.

    It is set in `config.toml` in `amplifier-core` of your folder for configuration, and may be restricted in
    `.amplifier-core/config.toml` of a project.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@config.command("show")
@click.option("--profile", metavar="NAME", help="As `run --profile`.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option(
    "-C",
    "--directory",
    default=".",
    metavar="FOLDER",
    help="The project.  [default: the current folder]",
)
def show(profile: str | None, as_json: bool, directory: str) -> int:
    """Show each key, its value, and where that comes from."""

    def run(report: Report) -> None:
        from .show import show_configuration

        show_configuration(report, profile, directory)

    return _run(run, as_json=as_json)


@config.command("init")
def init() -> int:
    """Make the file, with each key in a comment."""

    def run(report: Report) -> None:
        from .file import make_file

        report.write_lines([f"made `{make_file()}`"])

    return _run(run)


@config.command("edit")
def edit() -> int:
    """Open the file in $VISUAL or $EDITOR, and check it."""

    def run(report: Report) -> None:
        from .file import edit_file

        edit_file(report)

    return _run(run)


@config.command("schema")
def schema() -> int:
    """Write the JSON schema of the file, for editors."""

    def run(report: Report) -> None:
        del report
        import json

        from amplifier_app.configuration.template import make_schema

        click.echo(json.dumps(make_schema(), indent=2))

    return _run(run)


def _run(command: Callable[[Any], None], *, as_json: bool = False) -> int:
    from amplifier_app.commands.report import Report

    return Report(as_json=as_json).run_command(command)
