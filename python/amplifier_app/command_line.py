"""The command line: its options, its help, and its errors in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from amplifier_app.commands.default_command import CommandLine
from amplifier_app.outcome import OutcomeLine

_EPILOG = """\
\b
Examples:
  amplifier-core          (in a terminal: a conversation of many turns)
  amplifier-core "Give me a tour of this project"
  amplifier-core -C ~/src/app "Where are the TODOs?"
  git diff | amplifier-core "Review this change" > review.md
  amplifier-core --json "Which tests are slow?" | tail -1 | jq .data.status
  amplifier-core --continue "And the tests?"
  amplifier-core session list
  amplifier-core validate plan.toml
  amplifier-core list-modules

\b
Environment:
  ANTHROPIC_API_KEY   Key for the Anthropic API.
  OPENAI_API_KEY      Key for the OpenAI API. If neither is set, or kept in the
                      system keyring, the demo model answers: a local program,
                      not a language model. Others: amplifier-core provider list
  ANTHROPIC_BASE_URL, OPENAI_BASE_URL
                      Other addresses for these APIs.
  MESSAGE_MAX_CHARS   Maximum characters of a prompt (default: 50000 without
                      what is piped in).
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
  PROVIDER_PRICES     US dollars for a million tokens of models whose price is
                      not known, as JSON: {"MODEL": {"input": 3, "output": 15}}.
  TOOL_RATE           Limit on calls per tool, in the same form; a call over the
                      limit is refused (default: no limit).
  OTEL_EXPORTER_OTLP_ENDPOINT
                      Address of the collector for spans and metrics; requires
                      amplifier-core[otel] (default: none).
  AMPLIFIER_DEBUG     1 for --debug.
  NO_COLOR            Any value turns colours off.

\b
Exit codes:
  0    The turn is complete; a conversation was ended by /quit or Ctrl+D.
  1    The turn failed, was refused or reached a limit, or a module failed its
       validation.
  2    Wrong usage.
  3    The answer was cut short (max_tokens); there is a part of it.
  129  The terminal was closed (SIGHUP).
  130  Interrupted. Ctrl+C stops at once and keeps what was written; while a
       tool runs, the first one lets it finish.
  141  Standard output was closed.
  143  Terminated (SIGTERM).
"""

_FIRST_STEPS = """\
\b
Examples:
  amplifier-core          (in a terminal: a conversation of many turns)
  amplifier-core run "Give me a tour of this project"
Without ANTHROPIC_API_KEY and OPENAI_API_KEY the demo model answers: a local
program, not a language model. All options: `amplifier-core run --help`.
"""

_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


_KERNEL_COMMANDS = {
    "validate": "Check a module or a mount plan.",
    "list-types": "List the types of modules that can be validated.",
}
"""Commands that the kernel defines, and what `--help` says of them without importing it."""
_PROVIDER = "provider"
_SESSION = "session"
_MCP = "mcp"
_OF_CHANGES = ("undo", "redo", "diff")
_LATE_COMMANDS = {
    ", ".join(_OF_CHANGES): "Take back, or show, what a session has changed.",
    _SESSION: "List, show and change the sessions that are stored.",
    _PROVIDER: "List and test model providers, and keep their keys.",
    _MCP: "Keep, list and test MCP servers.",
    **_KERNEL_COMMANDS,
}
"""Commands that are imported when they are asked for, and what `--help` says of them."""


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
        if cmd_name == _PROVIDER:
            from amplifier_app.commands.provider.command import provider

            return provider
        if cmd_name == _SESSION:
            from amplifier_app.commands.session.command import session

            return session
        if cmd_name == _MCP:
            from amplifier_app.commands.mcp.command import mcp

            return mcp
        if cmd_name in _OF_CHANGES:
            from amplifier_app.commands.changes import command as of_changes

            return getattr(of_changes, cmd_name)
        if cmd_name not in _KERNEL_COMMANDS:
            return super().get_command(ctx, cmd_name)
        from amplifier_core.cli import main

        return main.commands[cmd_name]


def run_command(arguments: Sequence[str]) -> int:
    """Run the command and return the exit code."""
    values = {name for each in run.params if _takes_value(each) for name in each.opts}
    given = CommandLine(arguments, values, _WITH_OPTIONAL_VALUE)
    commands = (*amplifier_core.commands, *_list_late_commands())
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
        and arguments[0] in (*amplifier_core.commands, *_LATE_COMMANDS)
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


@amplifier_core.command(epilog=_EPILOG, short_help="Run an agent in a folder.")
@click.argument("prompt", required=False)
@click.option(
    "-C",
    "--directory",
    metavar="FOLDER",
    help="The folder that the agent works in; made if it is missing.  [default: that of a session"
    " that goes on, else the current folder]",
)
@click.option(
    "-c",
    "--continue",
    "continues",
    is_flag=True,
    help="Go on with the last session of this folder.",
)
@click.option(
    "-r",
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="Go on with a session: its id, its name or a part of its title; without one, you are asked.",
)
@click.option(
    "--fork-session", is_flag=True, help="With these two: go on with a copy of the session."
)
@click.option("--no-save", is_flag=True, help="Keep nothing of the session.")
@click.option("-q", "--quiet", is_flag=True, help="Write nothing but the answer.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help='Write each event as a JSON line {"event", "data"}; the last line is the outcome.',
)
@click.option(
    "--model",
    metavar="[PROVIDER:]NAME",
    help="The model to use, such as `openai:gpt-5.5`, `groq:NAME`, or `openai` for the usual model of"
    " a provider.  [default: that of the first provider whose key is set]",
)
@click.option(
    "--goal",
    metavar="TEXT",
    help="Go on until this is reached, as a model judges after each answer; without a prompt, it is"
    " the prompt.",
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "ask", "review", "read-only", "plan"]),
    help="What runs without a question: `auto` all that the sandbox keeps to the folder, `ask` what"
    " only reads; `review` asks about each change before it is made; `read-only` denies the rest, and `plan` until you agree to a plan.  [default: auto"
    " where commands run in namespaces, else ask]",
)
@click.option("--system", metavar="TEXT", help="The system prompt, instead of the usual one.")
@click.option("--system-file", metavar="FILE", help="A file that holds the system prompt.")
@click.option(
    "--no-project-notes",
    is_flag=True,
    help="Do not give the model `AGENTS.md`, `CLAUDE.md` and the like, yours and the project's.",
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="NAME[=JSON]",
    help="Mount a module, with a config; may be repeated. See `amplifier-core list-modules`.",
)
@click.option(
    "--plan", metavar="FILE", help="Mount the modules of a mount plan, a `.toml` or `.json` file."
)
@click.option(
    "--mcp-config",
    "mcp_configs",
    multiple=True,
    metavar="FILE",
    help="Connect the MCP servers of a file in the form of `mcpServers`; may be repeated.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Draw the display also if the output is no terminal; write a log to standard error.",
)
@click.option("--debug", is_flag=True, help="Write a detailed log, and tracebacks for errors.")
@click.pass_obj
def run(
    line: OutcomeLine,
    prompt: str | None,
    directory: str | None,
    continues: bool,
    resume: str | None,
    fork_session: bool,
    no_save: bool,
    quiet: bool,
    as_json: bool,
    model: str | None,
    goal: str | None,
    mode: str | None,
    system: str | None,
    system_file: str | None,
    no_project_notes: bool,
    modules: tuple[str, ...],
    plan: str | None,
    mcp_configs: tuple[str, ...],
    verbose: bool,
    debug: bool,
) -> int:
    """Run an agent in a folder: `amplifier-core "…"` is the same.

    PROMPT is the question or task; text that is piped in is added to it. Without a prompt, in a
    terminal, a conversation of many turns begins. The agent can list, search, read, write and edit
    the files in the folder. In a terminal its work is shown live; elsewhere standard output is the
    answer alone.
    """
    try:
        if debug:
            os.environ["AMPLIFIER_DEBUG"] = "1"
        # Imported here, so that `--help` and a wrong option answer at once.
        from amplifier_app.commands.order import given_system, named_server_files
        from amplifier_app.commands.place import find_place
        from amplifier_app.commands.prompt import Prompt, given_prompt, is_piped, is_typed
        from amplifier_app.sessions.wish import SessionWish

        if quiet and verbose:
            raise click.UsageError("`--quiet` and `--verbose` exclude each other")
        if goal is not None and not goal.strip():
            raise click.UsageError("`--goal` is empty")
        wish = SessionWish(continues, resume, fork_session, not no_save)
        wish.check()
        is_interactive = prompt is None and goal is None and not (quiet or as_json) and is_typed()
        named = None
        if modules or plan is not None:
            from amplifier_app.commands.named_modules import named_modules
            from amplifier_app.commands.provider_key import with_stored_keys

            named = with_stored_keys(named_modules(modules, plan))
        folder, stored = find_place(wish, directory, named, can_ask=is_typed())
        is_open = stored is not None and stored.has_open_turn
        goes_on = is_open and not (is_interactive or prompt or goal or is_piped())
        given = Prompt("") if is_interactive or goes_on else given_prompt(prompt or goal)
        from amplifier_app.commands.order import Order
        from amplifier_app.commands.provider_choice import chosen_model
        from amplifier_app.commands.provider_key import stored_key
        from amplifier_app.commands.start import chosen_form, set_up_logging, start
        from amplifier_app.failure import show_uncaught

        show_uncaught()
        choice = chosen_model(model, named, os.environ, stored_key)
        order = Order(
            given.text,
            folder,
            choice.model,
            system=given_system(system, system_file),
            block_chars=given.block_chars,
            named=named,
            goal=goal,
            mode=mode,
            provider=choice.provider.name,
            is_kept=wish.is_kept,
            stored=stored,
            goes_on=goes_on,
            has_project_notes=not no_project_notes,
            server_files=named_server_files(mcp_configs),
        )
        if is_interactive:
            from amplifier_app.commands.interactive import interact

            return interact(order, verbose=verbose)
        set_up_logging(verbose=verbose)
        return start(order, chosen_form(quiet=quiet, as_json=as_json, verbose=verbose), line)
    except KeyboardInterrupt:
        # Here, as click would write an empty line.
        from amplifier_app.outcome import outcome_of_signal

        line.write(outcome_of_signal())
        return 130


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
