"""The command line: its options, its help, and its errors in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

_EPILOG = """\
\b
Examples:
  amplifier-core run "Give me a tour of this project"
  amplifier-core run -C ~/src/app "Where are the TODOs?"
  git diff | amplifier-core run -
  amplifier-core run --json "Which tests are slow?" | jq -r .event
  amplifier-core validate tool ./my_tool
  amplifier-core validate plan.toml
  amplifier-core list-modules

\b
Environment:
  ANTHROPIC_API_KEY   Key for the Anthropic API. If it is not set, the demo
                      model answers: a local program, not a language model.
  ANTHROPIC_BASE_URL  Another address for the Anthropic API.
  MESSAGE_MAX_CHARS   Maximum characters of a prompt (default: 50000).
  TOOL_TIMEOUT        Seconds that a tool may run (default: 120).
  MAX_CONTENT_BLOCKS  Maximum content blocks of a message (default: 1000).
  THINKING_MODE_ENABLED
                      Whether the model thinks before it answers
                      (default: true).
  PROVIDER_MAX_RETRIES
                      Retries of a failed model call (default: 5; 0 for none).
  PROVIDER_RETRY_DELAY
                      Seconds before the first retry; doubled for each further
                      one, ten times as long for an overload (default: 1).
  PROVIDER_RETRY_BUDGET
                      Seconds after which there are no more retries
                      (default: 600).
  PROVIDER_RATE       Limit on model calls, such as 30/60 for 30 per minute; a
                      call over the limit waits (default: no limit).
  TOOL_RATE           Limit on calls per tool, in the same form; a call over the
                      limit is refused (default: no limit).
  OTEL_EXPORTER_OTLP_ENDPOINT
                      Address of the collector for spans and metrics; requires
                      amplifier-core[otel] (default: none).
  AMPLIFIER_DEBUG     1 for --debug.
  NO_COLOR            Any value turns colours off.

\b
Exit codes:
  0    The turn is complete.
  1    The turn failed or was refused, or a module failed its validation.
  2    Wrong usage.
  130  Interrupted. Ctrl+C once stops after the running tool, twice stops now.
  141  Standard output was closed.
  143  Terminated (SIGTERM).
"""

_FIRST_STEPS = """\
\b
Examples:
  amplifier-core run "Give me a tour of this project"
  amplifier-core run -C ~/src/app "Where are the TODOs?"
  amplifier-core validate tool ./my_tool

Without ANTHROPIC_API_KEY the demo model answers: a local program, not a language model. The options
of a command, its variables and its exit codes: `amplifier-core run --help`.
"""

_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


_KERNEL_COMMANDS = {
    "validate": "Check a module or a mount plan.",
    "list-types": "List the types of modules that can be validated.",
}
"""Commands that the kernel defines, and what `--help` says of them without importing it."""


class _Commands(click.Group):
    """The commands of the application and, when one is asked for, those of the kernel."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *_KERNEL_COMMANDS]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        helps = {name: own.get_short_help_str(80) for name, own in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl(list((helps | _KERNEL_COMMANDS).items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _KERNEL_COMMANDS:
            return super().get_command(ctx, cmd_name)
        from amplifier_core.cli import main

        return main.commands[cmd_name]


def run_command(arguments: Sequence[str]) -> int:
    """Run the command and return the exit code."""
    try:
        code = amplifier_core.main(list(arguments), "amplifier-core", standalone_mode=False)
    except click.ClickException as error:
        from amplifier_app.notice import notice

        notice(f"error: {_usage_message(error, arguments)}")
        return error.exit_code
    except click.Abort:
        return 130
    except SystemExit as exit_:  # click, when the reader of its help has gone
        return exit_.code if isinstance(exit_.code, int) else 1
    except Exception as error:
        from amplifier_app.failure import Failure, report

        if not isinstance(error, Failure):
            raise
        return report(error)
    return code if isinstance(code, int) else 0


def _usage_message(error: click.ClickException, arguments: Sequence[str]) -> str:
    """The usage error in one line, with a hint."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "amplifier-core"
    if (
        context is None
        and arguments
        and arguments[0] in (*amplifier_core.commands, *_KERNEL_COMMANDS)
    ):
        command += f" {arguments[0]}"
    hint = f"see `{command} --help`"
    message = error.format_message()
    if alike := getattr(error, "possibilities", None):
        hint = f"did you mean `{alike[0]}`?"
        message = error.message
    if message.startswith("Got unexpected extra argument"):
        hint = "put the prompt in quotes"
    message = message.replace("'", "`").rstrip(".")
    message = f"{message[:1].lower()}{message[1:]}"
    return message if message.endswith("?") else f"{message}; {hint}"


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"amplifier-core {version('amplifier-core')}")
        except PackageNotFoundError:
            from amplifier_core import __version__

            click.echo(f"amplifier-core {__version__}")
        context.exit()


@click.group(
    cls=_Commands, context_settings=_SETTINGS, invoke_without_command=True, epilog=_FIRST_STEPS
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def amplifier_core(context: click.Context) -> None:
    """Run an agent in a folder, and check modules for agents."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@amplifier_core.command(epilog=_EPILOG)
@click.argument("prompt", required=False)
@click.option(
    "-C",
    "--directory",
    default=".",
    metavar="FOLDER",
    help="The folder that the agent may read.  [default: the current folder]",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help='Write each event as a JSON line {"event", "data"}; the last line is the answer.',
)
@click.option("--model", metavar="NAME", help="The model to use.  [default: that of the provider]")
@click.option("-v", "--verbose", is_flag=True, help="Write a log to standard error.")
@click.option("--debug", is_flag=True, help="Write a detailed log, and tracebacks for errors.")
def run(
    prompt: str | None, directory: str, as_json: bool, model: str | None, verbose: bool, debug: bool
) -> int:
    """Run an agent in a folder and show its work live.

    PROMPT is the question or task; `-` reads it from standard input. The agent can list, search
    and read the files in the folder. It changes nothing.
    """
    try:
        if debug:
            os.environ["AMPLIFIER_DEBUG"] = "1"
        # Imported here, so that `--help` and a wrong option answer at once.
        from amplifier_app.commands.arguments import given_prompt, named_folder

        text, folder = given_prompt(prompt), named_folder(directory)
        from amplifier_app.commands.order import Order
        from amplifier_app.commands.start import set_up_logging, start
        from amplifier_app.uncaught import show_uncaught

        show_uncaught()
        set_up_logging(verbose=verbose)
        return start(Order(text, folder, model), as_json=as_json)
    except KeyboardInterrupt:
        return 130  # before click sees it, which would write an empty line


@amplifier_core.command("list-modules")
def list_modules() -> None:
    """List the modules that `run` can mount.

    If several modules have the same name, an installed entry point comes first, then an importable
    package amplifier_module_<id>, then the module of amplifier-core; the others are listed as
    hidden. `run` uses only those of amplifier-core. No module is imported: use `validate` to check
    that one works.
    """
    from amplifier_app.commands.module_list import module_lines

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    for line in module_lines():
        click.echo(line.encode(encoding, "backslashreplace").decode(encoding))
