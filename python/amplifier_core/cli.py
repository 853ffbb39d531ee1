"""The commands of the kernel itself: validating modules."""

from __future__ import annotations

import sys
from math import isnan
from typing import TYPE_CHECKING

import click

from . import __version__
from ._kernel.shown import printable

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


def _a_number(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if isnan(value):  # it is in every range
        raise click.BadParameter("not a number", context, parameter)
    return value


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="amplifier-core")
def main() -> None:
    """Validate modules for amplifier-core."""


@main.command()
@click.argument("module_type", type=click.Choice(list(MODULE_TYPES)))
@click.argument("module_path", type=click.Path(exists=True))
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
    module_type: str,
    module_path: str,
    entry_point: str | None,
    quiet: bool,
    timeout: float,
) -> None:
    """Check that a module fits its type.

    MODULE_PATH is the folder of a package or project, or a Python file. The module is imported
    and mounted once, with an empty configuration, in a process of its own that can read no input.
    The exit code is 0 if it passed and 1 if a check failed or the process did not end as it should.
    """
    # Imported here to keep `--help` fast.
    from .validation._process import validate_in_process

    result = validate_in_process(module_type, module_path, entry_point, timeout)
    _say(result.summary())
    if not quiet:
        for check in result.checks:
            _say(f"  {_line(check)}")
    context.exit(0 if result.passed else 1)


@main.command("list-types")
def list_types() -> None:
    """List the types of modules that can be validated."""
    _say("Available module types:")
    width = max(map(len, MODULE_TYPES))
    for name, purpose in MODULE_TYPES.items():
        _say(f"  {name:{width}}  {purpose}")


def _line(check: ValidationCheck) -> str:
    mark = "\N{CHECK MARK}" if check.passed else "\N{BALLOT X}"
    return f"{mark} [{check.severity}] {check.name}: {check.message}"


def _say(text: str) -> None:
    """Write a line; whatever a terminal could take for more than text is written as an escape."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(printable(text).encode(encoding, "backslashreplace").decode(encoding))
