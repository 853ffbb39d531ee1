"""What the options of a run say about sessions."""

from __future__ import annotations

from dataclasses import dataclass

import click


@dataclass(frozen=True)
class SessionWish:
    """What the options of a run say about sessions."""

    continues: bool = False
    """`--continue`: the session of the folder that was last written to."""
    resume: str | None = None
    """`--resume`: the session that this names; empty to be asked which one."""
    forks: bool = False
    """`--fork-session`: go on with a copy."""
    is_kept: bool = True
    """False for `--no-save`."""
    name: str | None = None
    """`--name`: what the session is named."""
    takes_over: bool = False
    """`--take-over`: also from another process."""

    def check(self) -> None:
        """Refuse options that exclude each other.

        Raises:
            UsageError: They do.
        """
        asked = "--continue" if self.continues else "--resume"
        if self.continues and self.resume is not None:
            raise click.UsageError("`--continue` and `--resume` exclude each other")
        if self.forks and not self.goes_on:
            raise click.UsageError("`--fork-session` needs `--continue` or `--resume`")
        if self.takes_over and not self.goes_on:
            raise click.UsageError("`--take-over` needs `--continue` or `--resume`")
        if self.name is not None and not self.name.strip():
            raise click.UsageError("`--name` is empty")
        if self.name is not None and not self.is_kept:
            raise click.UsageError("`--name` and `--no-save` exclude each other")
        if self.goes_on and not self.is_kept:
            raise click.UsageError(f"`{asked}` and `--no-save` exclude each other")

    @property
    def goes_on(self) -> bool:
        """Whether a stored session goes on."""
        return self.continues or self.resume is not None
