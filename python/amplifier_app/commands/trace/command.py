"""The command line of `amplifier-core trace`."""

from __future__ import annotations

import click


@click.command("trace")
@click.argument("name", metavar="[SESSION|LOG]", required=False)
@click.option("--last", is_flag=True, help="The last session of the folder, as without SESSION.")
@click.option(
    "--output",
    metavar="FILE",
    help="Where to write the page; `-` is standard output.  [default: `trace-ID.html`]",
)
@click.option("--debug", is_flag=True, help="Write tracebacks for errors.")
@click.option(
    "--store",
    "place",
    metavar="FOLDER",
    help="The folder that the sessions are stored in.  [default: in the user's state folder]",
)
@click.option(
    "-C",
    "--directory",
    default=".",
    metavar="FOLDER",
    help="The folder whose sessions come first.  [default: the current folder]",
)
def trace(
    name: str | None,
    last: bool,
    output: str | None,
    debug: bool,
    place: str | None,
    directory: str,
) -> int:
    """Write a session as a page of HTML, and the path of the page.

    It shows each turn as a timeline of its model calls, tools and sub-agents, with all that was said, and what
    they took in tokens, money and time. SESSION is an id, the beginning of it, a name or a part of a title;
    LOG is a file: an export, the output of `--json`, or a log of `hooks-logging`.
    """
    import os

    from amplifier_app.commands.report import Report

    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"

    def run(report: Report) -> None:
        from amplifier_app.commands.model_choice import require_engine
        from amplifier_app.commands.order import named_folder
        from amplifier_app.failure import Failure
        from amplifier_app.outcome import WRONG_USAGE
        from amplifier_app.sessions.opening import USUAL

        from .write import write_trace

        require_engine()
        if last and name is not None:
            hint = "leave one of them out"
            message = f"`--last` and `{name}` are two sessions"
            raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
        entry = None if place is None else {"module": USUAL, "config": {"folder": place}}
        write_trace(report, name, output, named_folder(directory), entry)

    return Report(as_json=False).run_command(run)
