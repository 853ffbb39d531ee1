"""The command line of `amplifier-core doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from amplifier_app.commands.report import Report


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option(
    "-C",
    "--directory",
    default=".",
    metavar="FOLDER",
    help="The project.  [default: the current folder]",
)
def doctor(as_json: bool, directory: str) -> int:
    """Show what is set up, what is missing, and what to do about it.

    It asks no service. The exit code is 1 where something cannot work.
    """
    from amplifier_app.commands.report import Report

    broken: list[str] = []

    def run(report: Report) -> None:
        from amplifier_app.commands.order import named_folder

        from .report import write_findings

        broken.extend(write_findings(report, named_folder(directory)))

    return Report(as_json=as_json).run_command(run) or int(bool(broken))
