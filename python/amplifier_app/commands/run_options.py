"""The command line of `amplifier-core run`: its options, and the order that they come to."""

from __future__ import annotations

import os

import click

from amplifier_app.commands.module_options import add_module_options, add_server_files
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
  AMPLIFIER_PLAIN     1 for --plain; also where TERM is dumb.
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


@click.command("run", epilog=_EPILOG, short_help="Run an agent in a folder.")
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
    "-i",
    "--image",
    "images",
    multiple=True,
    metavar="FILE",
    help="Attach an image (PNG, JPEG, GIF, WebP) to the prompt; may be repeated. `@FILE` in the prompt"
    " attaches a text file or an image of the folder.",
)
@click.option(
    "--fork-session", is_flag=True, help="With these two: go on with a copy of the session."
)
@click.option(
    "--take-over",
    is_flag=True,
    help="With these two: have the session also if another process has it open, after its turn.",
)
@click.option(
    "--bg",
    "in_background",
    is_flag=True,
    help="Work in a process of its own, without a terminal; writes the id of the session.",
)
@click.option("--work-off", type=int, hidden=True)
@click.option("--name", metavar="NAME", help="Name the session, so that `--resume NAME` finds it.")
@click.option("--no-save", is_flag=True, help="Keep nothing of the session.")
@click.option("-q", "--quiet", is_flag=True, help="Write nothing but the answer.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help='Write each event as a JSON line {"event", "data"}; the last line is the outcome.',
)
@click.option(
    "-m",
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
@add_module_options
@click.option(
    "--profile",
    metavar="NAME",
    help="A profile of your `config.toml`; see `amplifier-core config --help`.",
)
@add_server_files
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Draw the display also if the output is no terminal; write a log to standard error.",
)
@click.option(
    "--plain",
    is_flag=True,
    help="Lines alone, for screen readers: no colours, nothing that moves or is redrawn.",
)
@click.option("--debug", is_flag=True, help="Write a detailed log, and tracebacks for errors.")
@click.pass_obj
def run(
    line: OutcomeLine,
    prompt: str | None,
    directory: str | None,
    continues: bool,
    resume: str | None,
    images: tuple[str, ...],
    fork_session: bool,
    take_over: bool,
    in_background: bool,
    work_off: int | None,
    name: str | None,
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
    profile: str | None,
    server_files: tuple[str, ...],
    verbose: bool,
    plain: bool,
    debug: bool,
) -> int:
    """Run an agent in a folder, as `amplifier-core "…"` does.

    PROMPT is the question or task; text that is piped in is added to it. Without a prompt, in a
    terminal, a conversation of many turns begins. The agent can list, search, read, write and edit
    the files in the folder. In a terminal its work is shown live; elsewhere standard output is the
    answer alone.
    """
    try:
        if debug:
            os.environ["AMPLIFIER_DEBUG"] = "1"
        if plain:
            os.environ["AMPLIFIER_PLAIN"] = "1"
        # Imported here, so that `--help` and a wrong option answer at once.
        from amplifier_app.commands.attached_files import (
            MAX_ATTACHED_CHARS,
            attached_files,
            count_characters,
        )
        from amplifier_app.commands.order import given_system, named_server_files
        from amplifier_app.commands.place import find_place
        from amplifier_app.commands.prompt import Prompt, given_prompt, is_piped, is_typed
        from amplifier_app.configuration.resolve import read_configuration
        from amplifier_app.sessions.wish import SessionWish

        if quiet and verbose:
            raise click.UsageError("`--quiet` and `--verbose` exclude each other")
        if in_background and (as_json or no_save):
            other = "--json" if as_json else "--no-save"
            raise click.UsageError(f"`--bg` and `{other}` exclude each other")
        if goal is not None and not goal.strip():
            raise click.UsageError("`--goal` is empty")
        configuration = read_configuration(os.environ, profile)
        plan = configuration.get("plan", plan)
        modules = (*configuration.list_modules(), *modules)
        goes_on = continues or resume is not None
        is_saved = not no_save and (goes_on or configuration.get("save") is not False)
        wish = SessionWish(continues, resume, fork_session, is_saved, name, take_over)
        wish.check()
        is_detached = in_background or work_off is not None
        is_interactive = prompt is None and goal is None and not (quiet or as_json) and is_typed()
        is_interactive = is_interactive and not is_detached
        named = None
        if modules or plan is not None:
            from amplifier_app.commands.named_modules import named_modules
            from amplifier_app.commands.provider_key import with_stored_keys

            named = with_stored_keys(named_modules(modules, plan))
        folder, stored = find_place(wish, directory, named, can_ask=is_typed())
        configuration.apply_to(folder, os.environ)
        if stored is not None and stored.process is not None:
            from amplifier_app.commands.open_elsewhere import meet_process

            entry = None if named is None else named.store_entry
            code = meet_process(stored, entry, folder, wish, is_interactive=is_interactive)
            if code is not None:
                return code
        is_open = stored is not None and stored.has_open_turn
        goes_on = is_open and not (is_interactive or prompt or goal or is_piped())
        if is_detached and stored is not None and not (prompt or goal):
            goes_on = True
        nothing = Prompt("", work_off or 0)
        given = nothing if is_interactive or goes_on else given_prompt(prompt or goal)
        attached = attached_files(folder, given.typed, images)
        if goes_on and attached:
            raise click.UsageError("`--image` needs a prompt")
        from amplifier_app.commands.order import Order
        from amplifier_app.commands.provider_choice import chosen_model
        from amplifier_app.commands.provider_key import stored_key
        from amplifier_app.commands.start import chosen_form, set_up_logging, start
        from amplifier_app.failure import show_uncaught

        show_uncaught()
        choice = chosen_model(configuration.get("model", model), named, os.environ, stored_key)
        if system is None:
            system_file = configuration.get("system_file", system_file)
        order = Order(
            given.text,
            folder,
            choice.model,
            system=given_system(system, system_file),
            block_chars=given.block_chars
            + (MAX_ATTACHED_CHARS if is_interactive else count_characters(attached)),
            attached=attached,
            named=named,
            goal=goal,
            mode=configuration.get("mode", mode),
            is_mode_asked=mode is not None,
            provider=choice.provider.name,
            is_kept=wish.is_kept,
            name=None if name is None else name.strip(),
            stored=stored,
            goes_on=goes_on,
            has_project_notes=not no_project_notes
            and configuration.get("project_notes") is not False,
            server_files=named_server_files(server_files),
        )
        if work_off is not None:
            from amplifier_app.commands.background.work import work_off as work

            set_up_logging(verbose=True)
            return work(order)
        if in_background:
            from amplifier_app.commands.background.launch import launch

            return launch(order, _list_kept_options(click.get_current_context()))
        if is_interactive:
            from amplifier_app.commands.chat.interactive import interact

            return interact(order, verbose=verbose)
        set_up_logging(verbose=verbose)
        return start(order, chosen_form(quiet=quiet, as_json=as_json, verbose=verbose), line)
    except KeyboardInterrupt:
        # Here, as click would write an empty line.
        from amplifier_app.outcome import outcome_of_signal

        line.write(outcome_of_signal())
        return 130


_NOT_KEPT = frozenset(
    {
        "prompt",
        "directory",
        "continues",
        "resume",
        "fork_session",
        "in_background",
        "work_off",
        "quiet",
    }
)
"""What the process in the background has in another form, or not at all."""


def _list_kept_options(context: click.Context) -> list[str]:
    """Return the options that were given, as arguments for the process in the background."""
    found: list[str] = []
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if option.name in _NOT_KEPT or not value:
            continue
        name = max(option.opts, key=len)
        if value is True:
            found.append(name)
        else:
            values = [value] if isinstance(value, str | int) else list[object](value)
            found += [f"{name}={each}" for each in values]
    return found
