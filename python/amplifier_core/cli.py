"""The commands of the kernel itself: validating modules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import __version__
from ._kernel.shown import printable

if TYPE_CHECKING:
    from .validation import ValidationResult
    from .validation.base import ValidationCheck

MODULE_TYPES = {
    "provider": "language models behind a vendor's interface",
    "tool": "what an agent can use: files, search, the web",
    "hook": "observes and controls: logs, approvals",
    "orchestrator": "runs a turn: basic, streaming",
    "context": "keeps the messages of a conversation",
}
"""Types that can be validated, and what modules of each are for."""


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
@click.pass_context
def validate(
    context: click.Context, module_type: str, module_path: str, entry_point: str | None, quiet: bool
) -> None:
    """Check that a module fits its type.

    MODULE_PATH is the folder of a package or project, or a Python file. The module is imported
    and mounted once, with an empty configuration. The exit code is 1 if a check failed.
    """
    result = _validated(module_type, module_path, entry_point)
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


def _validated(module_type: str, module_path: str, entry_point: str | None) -> ValidationResult:
    # Imported here to keep `--help` fast.
    import asyncio

    from . import validation

    validators = {
        "provider": validation.ProviderValidator,
        "tool": validation.ToolValidator,
        "hook": validation.HookValidator,
        "orchestrator": validation.OrchestratorValidator,
        "context": validation.ContextValidator,
    }
    return asyncio.run(validators[module_type]().validate(module_path, entry_point))


def _line(check: ValidationCheck) -> str:
    mark = "\N{CHECK MARK}" if check.passed else "\N{BALLOT X}"
    return f"{mark} [{check.severity}] {check.name}: {check.message}"


def _say(text: str) -> None:
    """Write a line; whatever a terminal could take for more than text is written as an escape."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(printable(text).encode(encoding, "backslashreplace").decode(encoding))
