"""`amplifier-core session`: the conversations that are stored, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from amplifier_app.commands.ordered_group import OrderedGroup

_EXAMPLES = """\
\b
Examples:
  amplifier-core session list
  amplifier-core session show 1b9d6bcd
  amplifier-core session rename 1b9d6bcd "the parser"
  amplifier-core --resume parser "Now the tests"
  amplifier-core session fork parser --at 12
  amplifier-core session export parser --output parser.jsonl
"""


@click.group(cls=OrderedGroup, epilog=_EXAMPLES, invoke_without_command=True)
@click.pass_context
def session(context: click.Context) -> None:
    """List, show and change the sessions that `amplifier-core` has stored.

    A SESSION is named by its id, the beginning of it, its name, or a part of its title; those of the
    current folder come first.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def add_place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where to look."""
    for option in (
        click.option("--debug", is_flag=True, help="Write tracebacks for errors."),
        click.option(
            "--store",
            "place",
            metavar="FOLDER",
            help="The folder that the sessions are stored in.  [default: in the user's state folder]",
        ),
        click.option(
            "-C",
            "--directory",
            default=".",
            metavar="FOLDER",
            help="The folder whose sessions come first.  [default: the current folder]",
        ),
    ):
        command = option(command)
    return command


def _add_json(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Write JSON.")(command)


def _add_all(command: Callable[..., Any]) -> Callable[..., Any]:
    help = "Those of all folders."
    return click.option("--all", "of_all", is_flag=True, help=help)(command)


@session.command("list")
@_add_all
@_add_json
@add_place_options
def list_(directory: str, place: str | None, debug: bool, as_json: bool, of_all: bool) -> int:
    """List the sessions of this folder, those last used first."""
    from amplifier_app.commands.session.list import list_sessions

    return run_reporting(
        lambda report, folder, entry: list_sessions(report, folder, entry, of_all=of_all),
        directory,
        place,
        debug,
        as_json=as_json,
    )


@session.command("show")
@click.argument("name", metavar="SESSION")
@click.option("--whole", is_flag=True, help="Show the results of tools to their end.")
@_add_json
@add_place_options
def show(
    name: str, directory: str, place: str | None, debug: bool, as_json: bool, whole: bool
) -> int:
    """Show a conversation, each message with the number of its event."""
    from amplifier_app.commands.session.show import show_session

    return run_reporting(
        lambda report, folder, entry: show_session(report, name, folder, entry, whole=whole),
        directory,
        place,
        debug,
        as_json=as_json,
    )


@session.command("search")
@click.argument("text")
@_add_all
@_add_json
@add_place_options
def search(
    text: str, directory: str, place: str | None, debug: bool, as_json: bool, of_all: bool
) -> int:
    """Find the sessions in which TEXT was said, in either case."""
    from amplifier_app.commands.session.search import search_sessions

    return run_reporting(
        lambda report, folder, entry: search_sessions(report, text, folder, entry, of_all=of_all),
        directory,
        place,
        debug,
        as_json=as_json,
    )


@session.command("rename")
@click.argument("session_name", metavar="SESSION")
@click.argument("name")
@add_place_options
def rename(session_name: str, name: str, directory: str, place: str | None, debug: bool) -> int:
    """Give a session a name, by which `--resume` finds it."""
    from amplifier_app.commands.session.change import rename_session

    return run_reporting(
        lambda report, folder, entry: rename_session(report, session_name, name, folder, entry),
        directory,
        place,
        debug,
    )


@session.command("fork")
@click.argument("name", metavar="SESSION")
@click.option(
    "--at",
    type=int,
    metavar="EVENT",
    help="The last event that both have; `session show` says the numbers.  [default: the last]",
)
@add_place_options
def fork(name: str, at: int | None, directory: str, place: str | None, debug: bool) -> int:
    """Make a session that goes on from a point of another; writes its id."""
    from amplifier_app.commands.session.change import fork_session

    return run_reporting(
        lambda report, folder, entry: fork_session(report, name, at, folder, entry),
        directory,
        place,
        debug,
    )


@session.command("delete")
@click.argument("name", metavar="SESSION")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@add_place_options
def delete(name: str, is_sure: bool, directory: str, place: str | None, debug: bool) -> int:
    """Delete a session and its sub-agents; its forks stay as they are."""
    from amplifier_app.commands.session.change import delete_session

    return run_reporting(
        lambda report, folder, entry: delete_session(report, name, folder, entry, is_sure=is_sure),
        directory,
        place,
        debug,
    )


@session.command("export")
@click.argument("name", metavar="SESSION")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "atif"]),
    default="jsonl",
    help="`jsonl`, which `import` reads, or `atif`, the Agent Trajectory Interchange Format."
    "  [default: jsonl]",
)
@click.option(
    "--until",
    type=click.IntRange(min=1),
    metavar="EVENT",
    help="Leave out what comes behind this event.",
)
@click.option("--output", metavar="FILE", help="A new file, in the place of standard output.")
@add_place_options
def export(
    name: str,
    format_: Any,
    until: int | None,
    output: str | None,
    directory: str,
    place: str | None,
    debug: bool,
) -> int:
    """Write a session, with its sub-agents, as lines of JSON or as a trajectory."""
    from amplifier_app.commands.session.transfer import export_to

    return run_reporting(
        lambda report, folder, entry: export_to(
            report, name, format_, until, output, folder, entry
        ),
        directory,
        place,
        debug,
    )


@session.command("import")
@click.argument("file")
@click.option("--as-new", is_flag=True, help="Give the sessions new ids.")
@add_place_options
def import_(file: str, as_new: bool, directory: str, place: str | None, debug: bool) -> int:
    """Add the sessions of an export; writes their ids.

    FILE is what `session export` has written; `-` is standard input.
    """
    from amplifier_app.commands.session.transfer import import_from

    return run_reporting(
        lambda report, _, entry: import_from(report, file, entry, as_new=as_new),
        directory,
        place,
        debug,
    )


@session.command("answer")
@click.argument("name", metavar="SESSION")
@click.argument("answer", metavar="[yes|no|WORDS]", required=False)
@click.option("--question", "question_id", metavar="ID", help="Which one, where several wait.")
@add_place_options
def answer(
    name: str,
    answer: str | None,
    question_id: str | None,
    directory: str,
    place: str | None,
    debug: bool,
) -> int:
    """Answer what a session asks; words deny, and go to the model. Without one, you are asked."""
    from amplifier_app.commands.session.answer import answer_session

    return run_reporting(
        lambda report, folder, entry: answer_session(
            report, name, answer, question_id, folder, entry
        ),
        directory,
        place,
        debug,
    )


@session.command("stop")
@click.argument("name", metavar="SESSION")
@click.option("--now", "is_now", is_flag=True, help="Do not wait for a tool that runs.")
@add_place_options
def stop(name: str, is_now: bool, directory: str, place: str | None, debug: bool) -> int:
    """End the turn that runs in another process, as Ctrl+C does there."""
    from amplifier_app.commands.session.running import stop_turn

    return run_reporting(
        lambda report, folder, entry: stop_turn(report, name, folder, entry, is_now=is_now),
        directory,
        place,
        debug,
    )


@session.command("follow")
@click.argument("name", metavar="SESSION")
@_add_json
@add_place_options
def follow(name: str, directory: str, place: str | None, debug: bool, as_json: bool) -> int:
    """Show what a session does in another process, until that has ended; with `--json` as lines."""
    from amplifier_app.commands.session.follow import follow_session

    return run_reporting(
        lambda report, folder, entry: follow_session(report, name, folder, entry),
        directory,
        place,
        debug,
        as_json=as_json,
    )


@session.command("verify")
@click.argument("name", metavar="[SESSION]", required=False)
@_add_json
@add_place_options
def verify(name: str | None, directory: str, place: str | None, debug: bool, as_json: bool) -> int:
    """Check that a session, or each one, is as it was written; exit code 1 where one is not."""
    from amplifier_app.commands.session.verify import verify_sessions

    return run_reporting(
        lambda report, folder, entry: verify_sessions(report, name, folder, entry),
        directory,
        place,
        debug,
        as_json=as_json,
    )


def run_reporting(
    command: Callable[[Any, Path, Mapping[str, Any] | None], None],
    directory: str,
    place: str | None,
    debug: bool,
    *,
    as_json: bool = False,
) -> int:
    """Run a command and return the exit code."""
    import os

    from amplifier_app.commands.report import Report

    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"

    def run(report: Report) -> None:
        from amplifier_app.commands.model_choice import require_engine
        from amplifier_app.commands.order import named_folder
        from amplifier_app.sessions.opening import USUAL

        require_engine()
        folder = named_folder(directory)
        command(
            report,
            folder,
            None if place is None else {"module": USUAL, "config": {"folder": place}},
        )

    return Report(as_json=as_json).run_command(run)
