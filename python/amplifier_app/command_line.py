"""The command line: its commands, its help, and its errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from amplifier_app.commands.default_command import CommandLine
from amplifier_app.commands.meant_commands import find_meant
from amplifier_app.commands.run_options import run
from amplifier_app.outcome import WRONG_USAGE, OutcomeLine

_FIRST_STEPS = """\
\b
Examples:
  amplifier-core          (in a terminal: a conversation of many turns)
  amplifier-core run "Give me a tour of this project"
Without ANTHROPIC_API_KEY and OPENAI_API_KEY the demo model answers: a local
program, not a language model. All options: `amplifier-core run --help`.
"""

_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


_KERNEL_COMMANDS = ("validate", "list-types")
"""Commands that the kernel defines."""
_OF_CHANGES = "amplifier_app.commands.changes.command"
_ROOMS = {
    "undo": _OF_CHANGES,
    "redo": _OF_CHANGES,
    "diff": _OF_CHANGES,
    "session": "amplifier_app.commands.session.command",
    "queue": "amplifier_app.commands.session.queue_command",
    "trace": "amplifier_app.commands.trace.command",
    "store": "amplifier_app.commands.store.command",
    "config": "amplifier_app.commands.config.command",
    "doctor": "amplifier_app.commands.doctor.command",
    "provider": "amplifier_app.commands.provider.command",
    "mcp": "amplifier_app.commands.mcp.command",
    "tool": "amplifier_app.commands.tool.command",
    "worker": "amplifier_app.commands.serve.worker_command",
    "serve": "amplifier_app.commands.serve.serve_command",
}
"""Where the commands are that are imported when they are asked for."""
_LATE_COMMANDS = {
    "undo, redo, diff": "Take back, or show, what a session has changed.",
    "session, queue, trace": "List, change and reach sessions; write one as a page.",
    "config, doctor, store": "Show what is set or missing; prepare a database.",
    "provider, mcp, tool": "List and test model providers, MCP servers and tools.",
    "worker, serve": "Run sessions of clients, and serve them over HTTP.",
    ", ".join(_KERNEL_COMMANDS): "Check modules and mount plans; list their types.",
}
"""What `--help` says of them."""


def _list_late_commands() -> list[str]:
    return [name for row in _LATE_COMMANDS for name in row.split(", ")]


_WITH_OPTIONAL_VALUE = ("--resume", "-r")


class _Commands(click.Group):
    """The commands of the application and, when one is asked for, those of the kernel."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *_list_late_commands()]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        helps = {name: own.get_short_help_str(80) for name, own in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl(list((helps | _LATE_COMMANDS).items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from importlib import import_module

        if cmd_name in _ROOMS:
            return getattr(import_module(_ROOMS[cmd_name]), cmd_name)
        if cmd_name not in _KERNEL_COMMANDS:
            return super().get_command(ctx, cmd_name)
        from amplifier_core.cli import main

        return main.commands[cmd_name]


def run_command(arguments: Sequence[str]) -> int:
    """Run the command and return the exit code."""
    values = {name for each in run.params if _takes_value(each) for name in each.opts}
    given = CommandLine(arguments, values, _WITH_OPTIONAL_VALUE)
    commands = (*amplifier_core.commands, *_list_late_commands())
    if (word := given.find_lone_word()) and (meant := find_meant(word, commands)):
        from amplifier_app.failure import Failure

        hint = f"{meant} `amplifier-core -- {word}` sends it to the model"
        wants_outcome = OutcomeLine(wanted="--json" in given.options)
        failure = Failure(f"`{word}` is no command", hint=hint, exit_code=WRONG_USAGE)
        return _report_failure(failure, wants_outcome)
    arguments = given.with_command(commands, "run") or _without_arguments()
    is_run = arguments[:1] == ["run"]
    line = OutcomeLine(wanted=is_run and "--json" in given.options)
    try:
        code = amplifier_core.main(arguments, "amplifier-core", standalone_mode=False, obj=line)
    except click.ClickException as error:
        from amplifier_app.failure import Failure

        message, hint = _usage_message(error, arguments)
        return _report_failure(Failure(message, hint=hint, exit_code=error.exit_code), line)
    except click.Abort:
        return 130
    except SystemExit as exit_:  # click, when the reader of its help has gone
        return exit_.code if isinstance(exit_.code, int) else 1
    except Exception as error:  # noqa: BLE001 - the last place that can report it in one line
        return _report_failure(error, line)
    return code if isinstance(code, int) else 0


def _report_failure(error: Exception, line: OutcomeLine) -> int:
    from amplifier_app.failure import outcome_of_error, report

    code = report(error)
    line.write(outcome_of_error(error))
    return code


def _takes_value(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not parameter.is_flag


def _without_arguments() -> list[str]:
    """The command for a prompt on standard input, or for typing it; nothing without either."""
    from amplifier_app.commands.prompt import is_piped, is_typed

    return ["run"] if is_piped() or is_typed() else []


def _usage_message(error: click.ClickException, arguments: Sequence[str]) -> tuple[str, str]:
    """What is wrong with the command line, and a hint, empty if the first says it all."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "amplifier-core"
    if (
        context is None
        and arguments
        and arguments[0] in (*amplifier_core.commands, *_list_late_commands())
    ):
        command += f" {arguments[0]}"
    hint = f"see `{command} --help`"
    message = error.format_message()
    alike = getattr(error, "possibilities", None)
    if (
        context is not None
        and context.command is amplifier_core
        and message.startswith("No such c")
    ):
        from difflib import get_close_matches

        alike = get_close_matches(arguments[0], amplifier_core.list_commands(context))
    if alike:
        hint = f"did you mean `{alike[0]}`?"
        message = error.message
    if message.startswith("Got unexpected extra argument"):
        hint = "put the prompt in quotes"
    message = message.replace("'", "`").rstrip(".")
    message = f"{message[:1].lower()}{message[1:]}"
    return message, "" if message.endswith("?") else hint


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


amplifier_core.add_command(run)


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
