"""The option `--store` of workers and servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def add_store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that says where the sessions are."""
    return click.option(
        "--store",
        "place",
        metavar="FOLDER|MODULE",
        help="The folder that the sessions are stored in, or the module of another store, such as"
        " `store-postgres`, whose address is DATABASE_URL.  [default: in the user's state folder]",
    )(command)
