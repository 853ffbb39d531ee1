"""The command line of `amplifier-core worker`."""

from __future__ import annotations

import os

import click

from amplifier_app.commands.serve.store_option import add_store_option

_EPILOG = """\
\b
Examples:
  amplifier-core worker --agent helpers:helper
  amplifier-core worker --plan reviewer.toml --plan writer=plans/text.json
  amplifier-core worker --agent helpers:helper --store store-postgres
SIGTERM and Ctrl+C let turns end for --grace seconds; others go on with the rest.
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--agent",
    "programs",
    multiple=True,
    metavar="[NAME=]MODULE:AGENT",
    help="An `Agent` of a module on the Python path or in the current folder; sessions name it as"
    " AGENT, or NAME. May be repeated.",
)
@click.option(
    "--plan",
    "plans",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A mount plan; sessions name it as the file is called, or NAME. May be repeated.",
)
@add_store_option
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="How many sessions run at once.",
)
@click.option(
    "--lease",
    type=click.FloatRange(min=1),
    default=30.0,
    show_default=True,
    help="Seconds after which others take the sessions of a worker that has ended.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Seconds that turns have to end when the worker stops.",
)
@click.option("-v", "--verbose", is_flag=True, help="Write a log to standard error.")
@click.option("--debug", is_flag=True, help="Write a detailed log, and tracebacks for errors.")
def worker(
    programs: tuple[str, ...],
    plans: tuple[str, ...],
    place: str | None,
    concurrency: int,
    lease: float,
    grace: float,
    verbose: bool,
    debug: bool,
) -> int:
    """Run the turns of sessions that clients have sent prompts to; writes a line for each thing.

    Takes sessions whose agent it has and whose folder is on this machine, beside any number of other
    workers. Keys of providers are those of this process. What undo takes back, commands in the
    background and the sandbox are of this machine.
    """
    from amplifier_app.commands.report import Report

    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"
    if not programs and not plans:
        raise click.UsageError("a worker needs an `--agent` or a `--plan`")

    def run(report: Report) -> None:
        from amplifier_app.commands.model_choice import require_engine
        from amplifier_app.commands.serve.named_agents import load_agents
        from amplifier_app.commands.serve.place import find_store, make_say, run_until_signal
        from amplifier_app.commands.start import set_up_logging
        from amplifier_app.lazy_trio import import_httpcore
        from amplifier_serve import Worker

        require_engine()
        set_up_logging(verbose=verbose)
        import_httpcore()
        running = Worker(
            load_agents(programs, plans),
            find_store(place),
            concurrency=concurrency,
            lease=lease,
            grace=grace,
            say=make_say(report),
        )
        run_until_signal(running.run, running.stop)

    return Report().run_command(run)
