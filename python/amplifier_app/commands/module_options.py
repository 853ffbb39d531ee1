"""The options that name modules, of each command that mounts some."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])


def add_module_options(command: Command) -> Command:
    """Add `--module` and `--plan`, as the parameters `modules` and `plan`."""
    plan = click.option(
        "--plan",
        metavar="FILE",
        help="Mount the modules of a mount plan, a `.toml` or `.json` file.",
    )
    modules = click.option(
        "--module",
        "modules",
        multiple=True,
        metavar="NAME[=JSON]",
        help="Mount a module, with a config; may be repeated. See `amplifier-core list-modules`.",
    )
    return modules(plan(command))
