"""What the options of a run say about sessions, and the folder that it works in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_app.commands.named_modules import NamedModules
    from amplifier_app.commands.session.resume import StoredSession


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
        if self.goes_on and not self.is_kept:
            raise click.UsageError(f"`{asked}` and `--no-save` exclude each other")

    @property
    def goes_on(self) -> bool:
        """Whether a stored session goes on."""
        return self.continues or self.resume is not None


def find_place(
    wish: SessionWish, directory: str | None, named: NamedModules | None, *, can_ask: bool
) -> tuple[Path, StoredSession | None]:
    """Return the folder to work in, and the session that goes on, if one does.

    A session goes on in its own folder, unless another one is named.

    Args:
        wish: What the options say.
        directory: The folder that the user names; None for none.
        named: The modules that the user names, the store among them.
        can_ask: Whether a person can be asked which session is meant.

    Raises:
        Failure: There is no such folder or session.
    """
    from amplifier_app.commands.order import named_folder

    folder = named_folder("." if directory is None else directory)
    if not wish.goes_on:
        return folder, None
    from amplifier_app.commands.model_choice import require_engine
    from amplifier_app.commands.session.resume import find_stored_session

    require_engine()
    entry = None if named is None else named.store_entry
    stored = find_stored_session(wish, folder, entry, can_ask=can_ask)
    if directory is None and stored.folder is not None and stored.folder != folder:
        from amplifier_app.notice import show_notice

        folder = named_folder(str(stored.folder))
        show_notice(f"works in `{folder}`, as the session did")
    return folder, stored
