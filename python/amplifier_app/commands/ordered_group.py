"""A group of commands, listed in the order in which they are defined."""

from __future__ import annotations

import click
from typing_extensions import override


class OrderedGroup(click.Group):
    """Lists its commands in the order in which they are defined."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)
