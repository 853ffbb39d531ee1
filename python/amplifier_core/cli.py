"""The commands of the kernel itself: validating modules and mount plans."""

from __future__ import annotations

import os
import sys
from math import isnan
from typing import TYPE_CHECKING

import click

from . import __version__
from .error_messages import escape_unprintable
from .mount_plan import SUFFIXES

if TYPE_CHECKING:
    from .validation.base import ValidationCheck

MODULE_TYPES = {
    "provider": "language models behind a vendor's interface",
    "tool": "what an agent can use: files, search, the web",
    "hook": "observes and controls: logs, approvals",
    "orchestrator": "runs a turn: basic, streaming",
    "context": "keeps the messages of a conversation",
}
"""Types that can be validated, and what modules of each are for."""

PLAN = "plan"
"""What is validated where it is not a module."""


def _a_number(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if isnan(value):  # it is in every range
        raise click.BadParameter("not a number", context, parameter)
    return value


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="amplifier-core")
def main() -> None:
    """Validate modules and mount plans for amplifier-core."""


@main.command()
@click.argument("subject", metavar="MODULE_TYPE|PLAN")
@click.argument("module_path", metavar="MODULE_PATH", required=False)
@click.option(
    "-e",
    "--entry-point",
    metavar="NAME",
    help="Validate this entry point, of the project at the path or installed, such as `tool-x`.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show the summary alone.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0, 86_400, min_open=True),
    callback=_a_number,
    default=60.0,
    show_default=True,
    help="Stop a module that takes longer; it has failed.",
)
@click.pass_context
def validate(
    context: click.Context,
    subject: str,
    module_path: str | None,
    entry_point: str | None,
    quiet: bool,
    timeout: float,
) -> None:
    """Check a module or a mount plan.

    MODULE_TYPE is `provider`, `tool`, `hook`, `orchestrator` or `context`, and MODULE_PATH the
    folder of a package or project, or a Python file. The module is imported and mounted once, with
    an empty configuration, in a process of its own that can read no input. A provider that mounts
    nothing without a key gets a made-up one; no model is called.

    A module that `amplifier-core list-modules` shows can be named instead of its type and path, as
    in `validate tool-search`.

    PLAN is a mount plan in a file, `.toml` or `.json`. Its modules are mounted once in such a
    process, by the rules of a strict session: an unknown key, or a module that cannot be loaded, is
    an error.

    The exit code is 0 if it passed and 1 if a check failed or the process did not end as it should.
    """
    # Imported here to keep `--help` fast.
    from .validation._process import validate_in_process

    kind, path = _find_subject(context, subject, module_path)
    if kind == PLAN and entry_point is not None:
        raise click.UsageError("a mount plan has no entry point (`--entry-point`)", context)
    if kind != PLAN and entry_point is None and not os.path.exists(path):
        path, entry_point = _find_place(path)
    result = validate_in_process(kind, path, entry_point, timeout)
    _say(result.summary())
    if not quiet:
        for check in result.checks:
            _say(f"  {_write_line(check)}")
    context.exit(0 if result.passed else 1)


@main.command("list-types")
def list_types() -> None:
    """List the types of modules that can be validated."""
    _say("Available module types:")
    width = max(map(len, MODULE_TYPES))
    for name, purpose in MODULE_TYPES.items():
        _say(f"  {name:{width}}  {purpose}")


def _find_subject(context: click.Context, subject: str, module_path: str | None) -> tuple[str, str]:
    """Return what is validated, and where it is: a module, or a mount plan.

    Raises:
        click.UsageError: There is no such type, file or folder.
    """
    from .known_modules import guess_kind

    kind_parameter, path_parameter = context.command.params[:2]
    if module_path is not None:
        kind: str = click.Choice(list(MODULE_TYPES)).convert(subject, kind_parameter, context)
        if not os.path.exists(module_path) and not _is_known(module_path):
            message = f"Path {module_path!r} does not exist{_write_advice(module_path)}"
            raise click.BadParameter(message, context, path_parameter)
        return kind, module_path
    if subject in MODULE_TYPES:
        raise click.MissingParameter(None, context, path_parameter)
    if subject.endswith(SUFFIXES):
        file = click.Path(exists=True, dir_okay=False)
        return PLAN, str(file.convert(subject, kind_parameter, context))
    if _is_known(subject):
        return guess_kind(subject), subject
    known = ", ".join(MODULE_TYPES)
    message = f"{subject!r} is neither a module type ({known}) nor a `.toml` or `.json` file"
    raise click.BadParameter(f"{message}{_write_advice(subject) or '.'}", context, kind_parameter)


def _is_known(name: str) -> bool:
    from .known_modules import list_known_sources

    return name in list_known_sources()


def _write_advice(name: str) -> str:
    from .known_modules import suggest_module

    advice = suggest_module(name)
    return f"; {advice}" if advice else ""


def _find_place(name: str) -> tuple[str, str | None]:
    """Where a module of a name is imported from: a path or dotted name, and its entry point."""
    from .known_modules import list_known_sources

    source = list_known_sources()[name][0]
    return (".", name) if source.origin == "entry point" else (source.name, None)


def _write_line(check: ValidationCheck) -> str:
    mark = "\N{CHECK MARK}" if check.passed else "\N{BALLOT X}"
    return f"{mark} [{check.severity}] {check.name}: {check.message}"


def _say(text: str) -> None:
    """Write a line; whatever a terminal could take for more than text is written as an escape."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(escape_unprintable(text).encode(encoding, "backslashreplace").decode(encoding))
