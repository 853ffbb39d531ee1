"""`amplifier-core undo`, `redo` and `diff`: what a session has changed in the project."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def _add_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--debug", is_flag=True, help="Write tracebacks for errors."),
        click.option(
            "-C",
            "--directory",
            default=".",
            metavar="FOLDER",
            help="The folder whose last session is meant.  [default: the current folder]",
        ),
        click.option("--json", "as_json", is_flag=True, help="Write JSON."),
        click.argument("name", metavar="[SESSION]", required=False),
    ):
        command = option(command)
    return command


_preview = click.option("--preview", is_flag=True, help="Change nothing; show what would be done.")


@click.command("undo")
@_preview
@click.option(
    "--to",
    metavar="POINT",
    help="Take back all that came after a change, a turn or an event: `change-3`, `turn-2`, `17`.",
)
@_add_options
def undo(
    name: str | None, as_json: bool, directory: str, debug: bool, preview: bool, to: str | None
) -> int:
    """Take back what the last turn of a session has changed in the project.

    Again, it takes back the turn before. SESSION is an id, the beginning of it, a name or a part of a
    title; without one it is the last session of the folder. A file that somebody else has changed since
    stays as it is. The model reads of it in the next turn. `diff --list` shows what `--to` takes.
    """
    from .undo import undo_turn

    return _run(undo_turn, name, directory, debug, as_json=as_json, preview=preview, to=to)


@click.command("redo")
@_preview
@_add_options
def redo(name: str | None, as_json: bool, directory: str, debug: bool, preview: bool) -> int:
    """Make again what the last `undo` took back."""
    from .undo import redo_turn

    return _run(redo_turn, name, directory, debug, as_json=as_json, preview=preview)


@click.command("diff")
@click.option("--list", "lists", is_flag=True, help="List the changes, as `undo --to` takes them.")
@_add_options
def diff(name: str | None, as_json: bool, directory: str, debug: bool, lists: bool) -> int:
    """Show what a session has changed in the project, as one unified diff."""
    from .diff import show_diff

    return _run(show_diff, name, directory, debug, as_json=as_json, lists=lists)


def _run(
    command: Callable[..., None],
    name: str | None,
    directory: str,
    debug: bool,
    *,
    as_json: bool,
    **options: bool | str | None,
) -> int:
    """Run a command and return the exit code."""
    import os

    from amplifier_app.commands.report import Report

    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"

    def run(report: Report) -> None:
        from amplifier_app.commands.model_choice import require_engine
        from amplifier_app.commands.order import named_folder

        require_engine()
        command(report, name, named_folder(directory), **options)

    return Report(as_json=as_json).run_command(run)
