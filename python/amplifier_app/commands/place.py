"""The folder that a run works in, and the stored session that goes on there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_app.commands.named_modules import NamedModules
    from amplifier_app.sessions.resume import StoredSession
    from amplifier_app.sessions.wish import SessionWish


def find_place(
    wish: SessionWish, directory: str | None, named: NamedModules | None, *, can_ask: bool
) -> tuple[Path, StoredSession | None]:
    """Return the folder to work in, and the session that goes on, if one does.

    A session goes on in its own folder, unless another one is named, which may be missing.

    Args:
        wish: What the options say.
        directory: The folder that the user names; None for none.
        named: The modules that the user names, the store among them.
        can_ask: Whether a person can be asked which session is meant.

    Raises:
        Failure: There is no such folder or session.
    """
    from amplifier_app.commands.order import named_folder

    may_be_missing = directory is not None
    folder = named_folder("." if directory is None else directory, may_be_missing=may_be_missing)
    if not wish.goes_on:
        return folder, None
    from amplifier_app.commands.model_choice import require_engine
    from amplifier_app.sessions.resume import find_stored_session

    require_engine()
    entry = None if named is None else named.store_entry
    stored = find_stored_session(wish, folder, entry, can_ask=can_ask)
    if directory is None and stored.folder is not None and stored.folder != folder:
        from amplifier_app.notice import show_notice

        folder = named_folder(str(stored.folder))
        show_notice(f"works in `{folder}`, as the session did")
    return folder, stored
